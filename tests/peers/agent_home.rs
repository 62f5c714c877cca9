//! Agents from npm in private homes, each with a scripted model on loopback (`model.py`).

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use hearken_wording::phrase;
use serde_json::Value;

use super::child::{Hearken, command};
use super::kinds;

const MODEL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/peers/model.py");

/// Returns the words of a question about a command: the command itself, whatever shell starts it.
pub(super) fn wants(command: &str) -> String {
    format!("\n{command}\n")
}

/// The folder of the peers with the newest agents.
pub(super) const NEWEST: &str = "newest";
/// The folder of the peers with the previous version of each agent.
pub(super) const BEFORE: &str = "before";

/// An agent under test.
pub(super) struct AgentProgram {
    /// Its name for `hearken run`.
    pub(super) name: &'static str,
    /// Its name for people.
    pub(super) title: &'static str,
    /// Its package.
    pub(super) package: &'static str,
    /// The folder of the peers that it is installed in.
    pub(super) folder: &'static str,
    /// What hearken says about its mode when it starts with these settings.
    pub(super) starts: &'static str,
    /// What precedes a prompt so that the agent has to ask about its command.
    pub(super) urge: &'static str,
    /// What is said about a command that fails, and about the turn.
    pub(super) failed: (&'static str, &'static str),
    /// A file operation that it still asks about, although `touch c.txt` was allowed from then on.
    pub(super) other: &'static str,
    /// Whether hearken's settings choose the mode that asks most: in its own, it would judge by itself.
    pub(super) always: bool,
    /// Writes its settings, and returns its environment.
    pub(super) settle: fn(&Path, u16) -> Vec<(&'static str, String)>,
}

impl AgentProgram {
    /// Returns the version that is installed.
    pub(super) fn version(&self) -> String {
        installed(self.folder, self.package)
    }
}

/// What is said about a command that fails, and about its turn.
const FAILED: (&str, &str) = (
    "Failed, exit 3: echo one; echo two; exit 3. Last line: two",
    "1 call of a tool failed",
);
/// The same for an agent that does not report how a command ended.
const ENDED: (&str, &str) = ("Ended, unknown how: echo one; echo two; exit 3", "Finished");

/// Returns the version of a package in a folder of the peers.
pub(super) fn installed(folder: &str, package: &str) -> String {
    if package == VIBE.package {
        let output = Command::new(python(folder).join("vibe"))
            .arg("--version")
            .output();
        let said = String::from_utf8(output.expect(".ci/run installs it").stdout).unwrap();
        return said.split_whitespace().last().unwrap().to_owned();
    }
    let file = modules(folder).join(package).join("package.json");
    let text = std::fs::read_to_string(&file)
        .unwrap_or_else(|error| panic!("{}: {error}; .ci/run makes it", file.display()));
    let about: Value = serde_json::from_str(&text).unwrap();
    about["version"].as_str().unwrap().to_owned()
}

/// Returns the folder of installed packages within a folder of the peers.
pub(super) fn modules(folder: &str) -> PathBuf {
    peers().join(folder).join("node_modules")
}

/// Returns the folder of the programs in Python within a folder of the peers.
fn python(folder: &str) -> PathBuf {
    peers().join(folder).join("python/bin")
}

fn peers() -> PathBuf {
    let peers = std::env::var("HEARKEN_PEERS").expect(".ci/run names the folder of the peers");
    PathBuf::from(peers)
}

pub(super) const OPENCODE: AgentProgram = AgentProgram {
    name: "opencode",
    title: "opencode",
    package: "opencode-ai",
    folder: NEWEST,
    starts: "Mode build: OpenCode asks only where its own settings say so.",
    urge: "",
    failed: FAILED,
    other: "write",
    always: false,
    settle: |home, port| {
        let settings = serde_json::json!({
            "model": "mock/m", "small_model": "mock/m", "share": "disabled", "autoupdate": false,
            "provider": {"mock": {"npm": "@ai-sdk/openai-compatible", "name": "Mock",
                "options": {"baseURL": base(port), "apiKey": "x"}, "models": {"m": {"name": "m", "tool_call": true}}}},
            "permission": {"bash": "ask", "edit": "ask"},
        });
        write(home, "work/opencode.json", &settings.to_string());
        let off = [
            "OPENCODE_DISABLE_MODELS_FETCH",
            "OPENCODE_DISABLE_AUTOUPDATE",
            "OPENCODE_DISABLE_LSP_DOWNLOAD",
            "OPENCODE_DISABLE_DEFAULT_PLUGINS",
        ];
        off.map(|name| (name, "1".to_owned())).into()
    },
};

pub(super) const OPENCODE_BEFORE: AgentProgram = AgentProgram {
    folder: BEFORE,
    ..OPENCODE
};

/// The same agent with a model that speaks Anthropic's messages.
pub(super) const OPENCODE_BY_MESSAGES: AgentProgram = AgentProgram {
    settle: |home, port| {
        let environment = (OPENCODE.settle)(home, port);
        let path = home.join("work/opencode.json");
        let settings = std::fs::read_to_string(&path).unwrap();
        let by_messages = settings.replace("@ai-sdk/openai-compatible", "@ai-sdk/anthropic");
        assert_ne!(settings, by_messages);
        std::fs::write(&path, by_messages).unwrap();
        environment
    },
    ..OPENCODE
};

pub(super) const QWEN: AgentProgram = AgentProgram {
    name: "qwen",
    title: "Qwen Code",
    package: "@qwen-code/qwen-code",
    folder: NEWEST,
    starts: "Mode Default: Qwen Code asks before it changes anything.",
    urge: "",
    failed: FAILED,
    other: "write",
    always: false,
    settle: |home, port| {
        let settings = r#"{"tools":{"approvalMode":"default"}}"#;
        write(home, ".qwen/settings.json", settings);
        by_variables(port)
    },
};

pub(super) const QWEN_BEFORE: AgentProgram = AgentProgram {
    folder: BEFORE,
    ..QWEN
};

/// Qwen Code without settings of its own.
pub(super) const QWEN_AS_IT_IS: AgentProgram = AgentProgram {
    starts: "Mode Auto: Qwen Code decides most things itself. Type set mode to be asked.",
    settle: |_, port| by_variables(port),
    ..QWEN
};

fn by_variables(port: u16) -> Vec<(&'static str, String)> {
    vec![
        ("OPENAI_BASE_URL", base(port)),
        ("OPENAI_API_KEY", "x".to_owned()),
        ("OPENAI_MODEL", "m".to_owned()),
    ]
}

/// The adapter of the protocol's own makers.
pub(super) const CODEX: AgentProgram = AgentProgram {
    name: "codex",
    title: "Codex (codex-acp)",
    package: "@agentclientprotocol/codex-acp",
    folder: NEWEST,
    starts: "Mode Auto review: Codex decides most things itself. Type set mode to be asked.",
    urge: "ask: ",
    failed: FAILED,
    other: "touch",
    always: true,
    settle: |home, port| {
        write(home, ".codex/config.toml", &codex_settings(port, ""));
        Vec::new()
    },
};

/// The first adapter, which is no longer developed.
pub(super) const CODEX_BEFORE: AgentProgram = AgentProgram {
    package: "@zed-industries/codex-acp",
    folder: BEFORE,
    starts: "Whether Codex asks before it acts is not known.",
    urge: "",
    always: false,
    settle: |home, port| {
        let more = "approval_policy = \"untrusted\"\nsandbox_mode = \"danger-full-access\"\n";
        write(home, ".codex/config.toml", &codex_settings(port, more));
        Vec::new()
    },
    ..CODEX
};

pub(super) const CLAUDE: AgentProgram = AgentProgram {
    name: "claude",
    title: "Claude Code (claude-agent-acp)",
    package: "@agentclientprotocol/claude-agent-acp",
    folder: NEWEST,
    starts: "Mode Auto: Claude Agent decides most things itself. Type set mode to be asked.",
    urge: "",
    failed: FAILED,
    other: "write",
    always: true,
    settle: |_, port| {
        vec![
            // Its own interface has no version in its path.
            ("ANTHROPIC_BASE_URL", format!("http://127.0.0.1:{port}")),
            ("ANTHROPIC_API_KEY", "x".to_owned()),
            // Root may start it only in a sandbox.
            ("IS_SANDBOX", "1".to_owned()),
            ("DISABLE_AUTOUPDATER", "1".to_owned()),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".to_owned()),
        ]
    },
};

pub(super) const CLAUDE_BEFORE: AgentProgram = AgentProgram {
    folder: BEFORE,
    starts: "Mode Manual: Claude Agent asks before it changes anything.",
    ..CLAUDE
};

pub(super) const COPILOT: AgentProgram = AgentProgram {
    name: "copilot",
    title: "Copilot CLI",
    package: "@github/copilot",
    folder: NEWEST,
    starts: "Mode Agent: Copilot asks before it changes anything.",
    urge: "",
    failed: FAILED,
    other: "write",
    always: false,
    settle: |_, port| {
        vec![
            ("COPILOT_PROVIDER_BASE_URL", base(port)),
            ("COPILOT_PROVIDER_API_KEY", "x".to_owned()),
            ("COPILOT_MODEL", "m".to_owned()),
            ("COPILOT_AUTO_UPDATE", "false".to_owned()),
        ]
    },
};

pub(super) const COPILOT_BEFORE: AgentProgram = AgentProgram {
    folder: BEFORE,
    ..COPILOT
};

pub(super) const GEMINI: AgentProgram = AgentProgram {
    name: "gemini",
    title: "Gemini CLI",
    package: "@google/gemini-cli",
    folder: NEWEST,
    starts: "Mode Default: Gemini CLI asks before it changes anything.",
    urge: "",
    failed: ENDED,
    other: "write",
    always: false,
    settle: |_, port| {
        vec![
            ("GOOGLE_GEMINI_BASE_URL", format!("http://127.0.0.1:{port}")),
            ("GEMINI_API_KEY", "x".to_owned()),
            // Otherwise it has another model choose one.
            ("GEMINI_MODEL", "gemini-2.5-flash".to_owned()),
        ]
    },
};

pub(super) const GEMINI_BEFORE: AgentProgram = AgentProgram {
    folder: BEFORE,
    ..GEMINI
};

pub(super) const VIBE: AgentProgram = AgentProgram {
    name: "vibe",
    title: "Mistral Vibe",
    package: "mistral-vibe",
    folder: NEWEST,
    starts: "Mode Accept Edits: Mistral Vibe edits files itself, and asks before commands. Type set mode to be asked.",
    urge: "",
    failed: ENDED,
    other: "touch",
    always: false,
    settle: |home, port| {
        let settings = format!(
            "active_model = \"m\"\nenable_telemetry = false\nenable_update_checks = false\n\
             enable_auto_update = false\n[[providers]]\nname = \"mock\"\napi_base = \"{}\"\n\
             api_key_env_var = \"MOCK_KEY\"\napi_style = \"openai\"\nbackend = \"generic\"\n\
             [[models]]\nname = \"m\"\nprovider = \"mock\"\nalias = \"m\"\n",
            base(port)
        );
        write(home, ".vibe/config.toml", &settings);
        vec![("MOCK_KEY", "x".to_owned())]
    },
};

pub(super) const VIBE_BEFORE: AgentProgram = AgentProgram {
    folder: BEFORE,
    ..VIBE
};

/// It never asks.
pub(super) const PI: AgentProgram = AgentProgram {
    name: "pi",
    title: "pi (pi-acp)",
    package: "pi-acp",
    folder: NEWEST,
    starts: "pi ACP adapter never asks.",
    urge: "",
    failed: FAILED,
    other: "touch",
    always: false,
    settle: |home, port| {
        let model = serde_json::json!({"id": "m", "name": "m", "reasoning": false, "input": ["text"],
            "contextWindow": 100_000, "maxTokens": 4000,
            "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}});
        let models = serde_json::json!({"providers": {"mock": {"baseUrl": base(port),
            "api": "openai-completions", "apiKey": "x", "models": [model]}}});
        write(home, ".pi/agent/models.json", &models.to_string());
        let settings = r#"{"defaultProvider":"mock","defaultModel":"m"}"#;
        write(home, ".pi/agent/settings.json", settings);
        Vec::new()
    },
};

pub(super) const PI_BEFORE: AgentProgram = AgentProgram {
    folder: BEFORE,
    ..PI
};

/// Returns settings of Codex that name the model.
pub(super) fn codex_settings(port: u16, more: &str) -> String {
    format!(
        "model = \"m\"\nmodel_provider = \"mock\"\n{more}[model_providers.mock]\nname = \"Mock\"\n\
         base_url = \"{}\"\nwire_api = \"responses\"\n",
        base(port)
    )
}

fn base(port: u16) -> String {
    format!("http://127.0.0.1:{port}/v1")
}

pub(super) fn write(home: &Path, path: &str, text: &str) {
    let path = home.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// Starts the scripted model, which keeps in a home what it was asked last; returns its port, too.
pub(super) fn start_model(home: &Path) -> (Child, u16) {
    let mut model = Command::new("python3")
        .arg(MODEL)
        .arg(home.join("asked"))
        .stdout(Stdio::piped())
        .spawn()
        .expect("python3 is there");
    let mut lines = BufReader::new(model.stdout.take().unwrap()).lines();
    let port = lines.next().unwrap().unwrap().parse().unwrap();
    (model, port)
}

/// A private home for an agent, and its model.
pub(super) struct AgentHome {
    folder: tempfile::TempDir,
    model: Child,
    pub(super) environment: Vec<(&'static str, String)>,
}

impl AgentHome {
    pub(super) fn new(agent: &AgentProgram) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap();
        std::fs::create_dir(home.join("work")).unwrap();
        let (model, port) = start_model(&home);
        let mut environment = (agent.settle)(&home, port);
        let own = modules(agent.folder).join(".bin");
        assert!(
            own.is_dir(),
            "{} is missing; .ci/run makes it",
            own.display()
        );
        let found = std::env::var_os("PATH").unwrap();
        // The agents need a newer Node.js than many systems have: it is installed alongside them.
        let node = modules(NEWEST).join("node/bin");
        let all = [node, own, python(agent.folder)].into_iter();
        let all = all.chain(std::env::split_paths(&found));
        let path = std::env::join_paths(all).unwrap().into_string().unwrap();
        environment.push(("PATH", path));
        environment.push(("HOME", home.to_str().unwrap().to_owned()));
        Self {
            folder,
            model,
            environment,
        }
    }

    pub(super) fn work(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join("work")
    }

    pub(super) fn has(&self, file: &str) -> bool {
        self.work().join(file).exists()
    }

    pub(super) fn arguments(&self, agent: &AgentProgram, face: &str) -> Vec<String> {
        let work = self.work();
        let all = ["run", agent.name, "--cwd", work.to_str().unwrap()];
        let all = all.into_iter().chain(["--voice", "none", "--face", face]);
        all.map(str::to_owned).collect()
    }

    /// Writes settings of hearken's, and returns the arguments that name them.
    pub(super) fn configured(&self, settings: &str) -> [String; 2] {
        let home = self.folder.path().canonicalize().unwrap();
        write(&home, "hearken.toml", settings);
        let file = home.join("hearken.toml").to_str().unwrap().to_owned();
        ["--config".to_owned(), file]
    }

    /// Returns what the model was asked.
    pub(super) fn asked(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("asked")).unwrap_or_default()
    }

    pub(super) fn start(&self, agent: &AgentProgram, more: &[&str]) -> Hearken {
        let mut arguments = self.arguments(agent, "json");
        arguments.extend(more.iter().map(|argument| (*argument).to_owned()));
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        Hearken::spawn(&mut self.command(&arguments))
    }

    /// Returns a command of hearken's in the private home.
    pub(super) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = command(arguments);
        for foreign in [
            "XDG_DATA_HOME",
            "XDG_CACHE_HOME",
            "CODEX_HOME",
            "OPENAI_API_KEY",
        ] {
            command.env_remove(foreign);
        }
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }
}

impl Drop for AgentHome {
    fn drop(&mut self) {
        let _ = self.model.kill();
        let _ = self.model.wait();
    }
}

/// Returns the number of announcements of a kind.
pub(super) fn count(hearken: &Hearken, kind: &str) -> usize {
    kinds(hearken).iter().filter(|it| *it == kind).count()
}

/// Waits for a question, and returns its number.
pub(super) fn asked(hearken: &mut Hearken, words: &str) -> String {
    let question = hearken.announced("confirmation", words);
    let text = question["text"].as_str().unwrap();
    assert!(phrase!("question.risk.unknown").is_in(text), "{text}");
    number(&question)
}

/// Returns the number of a question.
pub(super) fn number(question: &Value) -> String {
    let text = question["text"].as_str().unwrap();
    let (number, _) = text
        .strip_prefix("Question ")
        .unwrap()
        .split_once('.')
        .unwrap();
    number.to_owned()
}

pub(super) fn children(of: u32) -> Vec<u32> {
    // Each thread has its own list of children.
    let Ok(threads) = std::fs::read_dir(format!("/proc/{of}/task")) else {
        return Vec::new();
    };
    let lists =
        threads.map(|thread| std::fs::read_to_string(thread.unwrap().path().join("children")));
    let lists: Vec<String> = lists.map_while(Result::ok).collect();
    let ids = lists.iter().flat_map(|list| list.split_whitespace());
    ids.map(|id| id.parse().unwrap()).collect()
}

/// Kills a program and everything it has started.
pub(super) fn kill(id: u32) {
    let below = children(id);
    let pid = rustix::process::Pid::from_raw(i32::try_from(id).unwrap()).unwrap();
    let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
    below.into_iter().for_each(kill);
}
