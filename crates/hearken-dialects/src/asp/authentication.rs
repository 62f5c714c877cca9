//! Getting in over a WebSocket, and staying in: the binding's `auth` and `pong` frames.
//!
//! Responsibilities: authenticating with the token of the source, noticing that the server let us in or turned us away,
//! and answering its heartbeats. Not here: the other frames (`translator`), the close codes (`WebSocketTerms`).
//!
//! Mental model: `auth` is the first frame of every connection, and nothing else is sent before `auth_ok`. With an
//! identity it carries a DPoP proof (RFC 9449): the identity's signature over the address and the token.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use crate::link::{Fault, Phrase, WebSocketTerms};
use crate::{ConnectionLoss, Cx, DialectOutput, TransportKind};

use super::decision_delivery::AnswerStage;
use super::handler::Identity;
use super::translator::Asp;

/// The close code after which the server would turn away another connection too: it did not accept the `auth` frame.
const TURNED_AWAY: u16 = 4001;

/// The requirements for a WebSocket.
pub const WEBSOCKET: WebSocketTerms = WebSocketTerms {
    turned_away: &[TURNED_AWAY],
    ..WebSocketTerms::PLAIN
};

/// How far the server has let us in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Admission {
    /// It was not asked to.
    #[default]
    Unasked,
    /// It was asked, and has not answered.
    Asked,
    /// It has.
    Inside,
}

impl Asp {
    /// Authenticates at the start of a connection, if there is a token.
    pub(super) fn enter(&mut self, cx: &mut Cx<'_>) {
        self.entry = Admission::Unasked;
        if self.start.carrier != TransportKind::WebSocket {
            return;
        }
        let Some(token) = &self.start.token else {
            return;
        };
        let mut frame = json!({"type": "auth", "token": token.reveal()});
        if let Some(identity) = &self.start.identity {
            let path = self.start.path.split(['?', '#']).next().unwrap_or_default();
            let claims = json!({
                "jti": format!("{:016x}{:016x}", self.start.seed, cx.now.wall.as_nanosecond() as u64),
                "htm": "GET",
                "htu": format!("{}{path}", self.start.origin),
                "iat": cx.now.wall.as_second(),
                "ath": URL_SAFE_NO_PAD.encode(ring::digest::digest(&ring::digest::SHA256, token.reveal().as_bytes())),
            });
            frame["dpopProof"] = proof(identity, &claims).into();
        }
        self.entry = Admission::Asked;
        self.put(&frame, cx);
    }

    /// Notes that the server treats us as authenticated, and sends what waited for that.
    pub(super) fn let_in(&mut self, cx: &mut Cx<'_>) {
        if self.entry != Admission::Asked {
            return;
        }
        self.entry = Admission::Inside;
        let mut due = Vec::new();
        for sending in &mut self.sending {
            if sending.stage == AnswerStage::Held {
                sending.stage = AnswerStage::Leaving;
                due.push((sending.request, sending.text.clone()));
            }
        }
        for (request, text) in due {
            cx.out.push(self.out(request, text));
        }
    }

    /// Answers a heartbeat; without an answer, the server would assume that we are gone.
    pub(super) fn pong(&mut self, cx: &mut Cx<'_>) {
        if self.start.carrier == TransportKind::WebSocket {
            self.put(&json!({"type": "pong"}), cx);
        }
    }

    /// Announces why the server turned hearken away, and what helps.
    pub(super) fn note_turned_away(&self, down: ConnectionLoss<'_>, cx: &mut Cx<'_>) {
        let (ConnectionLoss::Failed(Fault::ClosedWith { code, .. })
        | ConnectionLoss::Lost(Fault::ClosedWith { code, .. })) = down
        else {
            return;
        };
        if *code == TURNED_AWAY {
            let key = match self.start.token {
                Some(_) => "asp.turned_away.token",
                None => "asp.turned_away.none",
            };
            cx.out.push(DialectOutput::Announce(Phrase::new(key)));
        }
    }

    fn put(&mut self, frame: &Value, cx: &mut Cx<'_>) {
        let request = self.start.numbers.fresh();
        let frame = frame.to_string();
        cx.out.push(DialectOutput::Send { request, frame });
    }
}

/// Returns the proof that an identity owns its key, as a signed JSON Web Token.
fn proof(identity: &Identity, claims: &Value) -> String {
    let head = json!({
        "typ": "dpop+jwt",
        "alg": "EdDSA",
        "jwk": {"kty": "OKP", "crv": "Ed25519", "x": URL_SAFE_NO_PAD.encode(identity.public_bytes())},
    });
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let signed = format!("{}.{}", part(&head), part(claims));
    let signature = URL_SAFE_NO_PAD.encode(identity.sign(&signed));
    format!("{signed}.{signature}")
}
