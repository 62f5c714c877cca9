//! An agent that is told what to do from here, over its own protocol.

use super::*;

impl Stage {
    /// An agent whose conversation is open and that was prompted.
    pub(super) fn prompted(options: Options) -> Self {
        let mut stage = Self::agent(options, Config::default());
        stage.type_prompt("do it");
        stage
    }

    /// An agent whose conversation is open.
    pub(super) fn agent(options: Options, config: Config) -> Self {
        Self::agents(1, options, config)
    }

    /// So many of them.
    pub(super) fn agents(count: usize, options: Options, config: Config) -> Self {
        let source = |at: usize| SourceSetup {
            name: format!("agent {at}"),
            answerable: true,
            carrier: crate::dialect::Carrier::Lines,
            dialect: crate::config::Dialect::Acp,
            folder: "/work/a".to_owned(),
            program: true,
            ..SourceSetup::default()
        };
        let mut stage = Self::under(config, options, (0..count).map(source).collect());
        for at in 0..count {
            stage.link(at, LinkEvent::Connected);
            let frame = |it: Value| LinkEvent::Frame(Frame::of(it.to_string()));
            stage.link(at, frame(json!({"jsonrpc": "2.0", "id": 1, "result": {"protocolVersion": 1,
                "agentCapabilities": {}, "agentInfo": {"name": format!("fox{at}"), "title": format!("Fox {at}")}}})));
            stage.link(
                at,
                frame(json!({"jsonrpc": "2.0", "id": 2, "result": {"sessionId": "s"}})),
            );
        }
        stage.wait(2000);
        stage.lines.clear();
        stage.sent.clear();
        stage
    }

    pub(super) fn type_prompt(&mut self, text: &str) {
        self.app.tell_agent(Some(text.to_owned()), self.now);
        self.wait(10);
        self.input(Input::Deadline);
    }

    fn update(&mut self, link: usize, update: Value) {
        let text = json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "update": update}});
        self.link(link, LinkEvent::Frame(Frame::of(text.to_string())));
    }

    pub(super) fn says(&mut self, text: &str) {
        self.says_on(0, text);
    }

    pub(super) fn says_on(&mut self, link: usize, text: &str) {
        let content = json!({"type": "text", "text": text});
        self.update(
            link,
            json!({"sessionUpdate": "agent_message_chunk", "content": content}),
        );
    }

    /// Ends the turn whose prompt went out last.
    pub(super) fn turn_ends(&mut self) {
        let id = self.prompts(0).last().map(|(id, _)| *id).unwrap();
        let text = json!({"jsonrpc": "2.0", "id": id, "result": {"stopReason": "end_turn"}});
        self.link(0, LinkEvent::Frame(Frame::of(text.to_string())));
    }

    /// Gives the prompts that went out to a source, with their ids.
    pub(super) fn prompts(&self, link: usize) -> Vec<(u64, String)> {
        let to = self.frames.iter().filter(|(to, _)| *to == LinkId(link));
        let to = to.map(|(_, body)| body);
        let prompts = to.filter(|body| body["method"] == "session/prompt");
        let text = |body: &Value| {
            body["params"]["prompt"][0]["text"]
                .as_str()
                .unwrap()
                .to_owned()
        };
        prompts
            .map(|body| (body["id"].as_u64().unwrap(), text(body)))
            .collect()
    }
}
