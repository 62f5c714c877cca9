"""What the messages of AAEP must look like, by the chapters' own lists of fields, and a few of them."""

SUBSCRIPTION = "sub_8a4f2c9d"
TOKEN = "rpl_4f8a2e7d9c1b6a3f"

KEYS = {
    "subscription.request": (
        {"type", "aaep_version", "subscriber_id", "capabilities"},
        {"subscriber_name", "subscriber_version", "subscriber_manifest_uri", "correlation_id", "extensions"},
    ),
    "subscription.renegotiate": ({"type", "subscription_id", "capabilities"}, set()),
    "subscription.close": ({"type", "subscription_id"}, {"reason_code", "reason_message"}),
    "confirmation.reply": (
        {"type", "reply_token", "decision", "subscription_id", "timestamp"},
        {"decided_by", "decision_rationale", "modified_action", "correlation_id"},
    ),
}
CAPABILITIES = {
    "max_events_per_second": int,
    "preferred_verbosity": str,
    "languages": list,
    "supports_confirmation_reply": bool,
    "supports_clarification_reply": bool,
    "coalesce_boundaries": list,
    "event_filters": dict,
    "supported_conformance_levels": list,
    "supported_extensions": list,
    "cognitive_load": str,
    "pace_wpm": int,
    "accept_signed_manifests_only": bool,
}


def faults(message):
    kind = message.get("type")
    if kind not in KEYS:
        return [f"type {kind}"]
    needed, allowed = KEYS[kind]
    found = [f"missing {key}" for key in needed - message.keys()]
    found += [f"strange {key}" for key in message.keys() - needed - allowed]
    if kind != "subscription.request" and message.get("subscription_id") != SUBSCRIPTION:
        found.append("subscription_id")
    for key, value in message.get("capabilities", {}).items():
        if not isinstance(value, CAPABILITIES.get(key, type(None))):
            found.append(f"capability {key}")
    if kind == "confirmation.reply" and message.get("reply_token") != TOKEN:
        found.append("reply_token")
    return found


def event(number, kind, **fields):
    return {
        "@context": "https://aaep-protocol.org/context/v1",
        "type": f"aaep:agent.{kind}",
        "event_id": f"evt_{number:016x}",
        "session_id": "sess_2c91a7",
        "timestamp": fields.pop("timestamp"),
        "producer": {"agent_id": "retirement-planner"},
        **fields,
    }


def question(number, now):
    return event(
        number,
        "awaiting.confirmation",
        timestamp=now,
        urgency="critical",
        reply_token=TOKEN,
        action="Transfer $500",
        consequence="$500 leave the account",
        risk_level="low",
        reversibility="reversible",
        timeout_seconds=60,
        default_decision="reject",
        summary_normal="Transfer $500?",
    )
