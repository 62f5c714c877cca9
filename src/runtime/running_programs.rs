//! What the command lines of running programs reveal: which programs are agents that can be followed, and where.
//!
//! Responsibilities: reading command lines. Not here: which programs run (`platform`), whether anything answers there
//! (`nearby_agents`).

use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;

use crate::config::HookedAgent;

/// The programs that run another program, which their command line names second or third: `node --no-warnings claude`.
const RUNTIMES: [&str; 9] = [
    "node", "nodejs", "bun", "deno", "python", "python3", "sh", "bash", "env",
];
/// How many words after such a runtime may name the program.
const WORDS: usize = 2;

/// The words of a command line by which an agent is not used in a terminal, but serves another program or names its
/// version.
const ELSEWHERE: [&str; 4] = ["--acp", "--experimental-acp", "app-server", "--version"];

/// Returns whether a word is the path of a program of this name.
fn is_program(word: &str, name: &str) -> bool {
    let file = Path::new(word).file_name();
    file.is_some_and(|file| file == name || file == format!("{name}.exe").as_str())
}

/// Returns the words of a command line that may name its program.
fn program_words(call: &[String]) -> &[String] {
    let Some(first) = call.first() else {
        return call;
    };
    let is_runtime = RUNTIMES.iter().any(|name| is_program(first, name));
    let count = 1 + if is_runtime { WORDS } else { 0 };
    call.get(..count.min(call.len())).unwrap_or(call)
}

/// Returns whether a command line runs a program of this name.
fn is_call_of(call: &[String], name: &str) -> bool {
    program_words(call)
        .iter()
        .any(|word| is_program(word, name))
}

/// Returns the value of an option, in either of its forms.
fn option<'a>(call: &'a [String], name: &str) -> Option<&'a str> {
    let at = call.iter().position(|word| word == name);
    let behind = at.and_then(|at| call.get(at + 1));
    let joined = || {
        let mut rest = call.iter().filter_map(|word| word.strip_prefix(name));
        rest.find_map(|rest| rest.strip_prefix('='))
    };
    behind.map(String::as_str).or_else(joined)
}

/// Returns the local address to reach a server that listens at `host`; `None` if that is another machine's.
fn here(host: &str) -> Option<&str> {
    match host.parse() {
        Ok(IpAddr::V4(Ipv4Addr::UNSPECIFIED)) => Some("127.0.0.1"),
        Ok(address) if address.is_loopback() => Some(host),
        Ok(_) => None,
        Err(_) => (host == "localhost").then_some(host),
    }
}

/// Returns the ports where opencode servers were told to listen.
pub(super) fn opencode_ports(calls: &[Vec<String>]) -> Vec<u16> {
    let ours = calls.iter().filter(|call| is_call_of(call, "opencode"));
    let ports = ours.filter_map(|call| {
        let host = option(call, "--hostname").map_or(Some("127.0.0.1"), here);
        let port = option(call, "--port")?.parse::<u16>().ok()?;
        host.filter(|host| *host == "127.0.0.1" && port != 0)
            .map(|_| port)
    });
    ports.collect()
}

/// Returns the addresses where Codex servers were told to listen.
pub(super) fn codex_addresses(calls: &[Vec<String>]) -> Vec<String> {
    let ours = calls
        .iter()
        .filter(|call| is_call_of(call, "codex") && call.iter().any(|word| word == "app-server"));
    let addresses = ours.filter_map(|call| {
        let (host, port) = option(call, "--listen")?
            .strip_prefix("ws://")?
            .trim_end_matches('/')
            .rsplit_once(':')?;
        let port: u16 = port.parse().ok().filter(|port| *port != 0)?;
        Some(format!("ws://{}:{port}", here(host)?))
    });
    addresses.collect()
}

/// Returns whether an agent with hooks runs in a terminal, not as another program's.
pub(super) fn runs(agent: HookedAgent, calls: &[Vec<String>]) -> bool {
    let package = match agent {
        HookedAgent::Claude => "@anthropic-ai/claude-code/",
        HookedAgent::Codex => "@openai/codex/",
        HookedAgent::Copilot => "@github/copilot/",
        HookedAgent::Qwen => "@qwen-code/qwen-code/",
        HookedAgent::Gemini => "@google/gemini-cli/",
    };
    let is_one = |call: &&Vec<String>| {
        is_call_of(call, agent.name()) || program_words(call).iter().any(|it| it.contains(package))
    };
    let is_elsewhere =
        |call: &Vec<String>| call.iter().any(|word| ELSEWHERE.contains(&word.as_str()));
    calls.iter().filter(is_one).any(|call| !is_elsewhere(call))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calls(lines: &[&str]) -> Vec<Vec<String>> {
        let words = |line: &&str| line.split(' ').map(str::to_owned).collect();
        lines.iter().map(words).collect()
    }

    #[test]
    fn addresses_on_this_machine_are_read_from_calls_of_the_agents_alone() {
        let calls = calls(&[
            "/usr/lib/opencode serve --port 4100",
            "node /opt/bin/opencode web --port=4101 --hostname 0.0.0.0",
            "opencode serve --port 4102 --hostname 192.168.1.2",
            "opencode serve --port 0",
            "opencode serve",
            "vim opencode.txt --port 4103",
            "/x/codex app-server --listen ws://127.0.0.1:8765",
            "node /x/codex app-server --listen=ws://0.0.0.0:8766/",
            "codex app-server --listen ws://10.0.0.1:8767",
            "codex app-server --listen stdio://",
            "codex app-server --listen ws://127.0.0.1:0",
            "less codex app-server --listen",
            "codex app-server --listen",
            "",
        ]);
        assert_eq!(opencode_ports(&calls), [4100, 4101]);
        let codex = ["ws://127.0.0.1:8765", "ws://127.0.0.1:8766"];
        assert_eq!(codex_addresses(&calls), codex);
        assert!(!runs(HookedAgent::Claude, &calls));
        assert!(!runs(HookedAgent::Codex, &calls[6..11]));
    }

    #[test]
    fn claude_code_is_known_by_its_name_and_by_its_file() {
        for line in [
            "claude",
            "/usr/local/bin/claude --continue",
            "node /usr/lib/node_modules/@anthropic-ai/claude-code/cli.js",
        ] {
            assert!(runs(HookedAgent::Claude, &calls(&[line])), "{line}");
        }
        for line in [
            "claude-agent-acp",
            "hearken watch claude",
            "hearken.exe watch claude",
            "/usr/bin/hearken bridge claude",
            "cat claude",
            "/bin/sh /tmp/bin/claude --version",
            "vi a/b/claude.md",
        ] {
            assert!(!runs(HookedAgent::Claude, &calls(&[line])), "{line}");
        }
    }
    #[test]
    fn an_agent_that_serves_another_program_does_not_run_in_a_terminal() {
        for agent in HookedAgent::ALL {
            let name = agent.name();
            for line in [
                name,
                &format!("node /x/bin/{name} --resume"),
                &format!("{name}.exe"),
            ] {
                assert!(runs(agent, &calls(&[line])), "{line}");
            }
            let served = format!("node /x/bin/{name} --acp");
            assert!(!runs(agent, &calls(&[&served])), "{served}");
        }
        let package = "node /usr/lib/node_modules/@google/gemini-cli/bundle/gemini.js";
        assert!(runs(HookedAgent::Gemini, &calls(&[package])));
    }
}
