//! The reasons for faults of several kinds, typed until they are worded.
//!
//! Responsibilities: each reason, its data, and the key of its words. Not here: what follows from a fault
//! (`link_fault`), the words (`announce`).

use std::io::ErrorKind;

/// The value of a placeholder in the words of a reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CauseValue {
    /// A name, a number or an address, safe to announce.
    Own(String),
    /// The system's error for an attempt.
    Kind(ErrorKind),
    /// The other side's own words.
    Agent(String),
}

/// The other side's own words, hidden in the debug form.
#[derive(Clone, PartialEq, Eq)]
pub struct RemoteText(pub String);

impl std::fmt::Debug for RemoteText {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("…")
    }
}

impl From<&String> for CauseValue {
    fn from(text: &String) -> Self {
        Self::Own(text.clone())
    }
}

impl From<&u32> for CauseValue {
    fn from(number: &u32) -> Self {
        Self::Own(number.to_string())
    }
}

impl From<&&'static [&'static str]> for CauseValue {
    fn from(names: &&'static [&'static str]) -> Self {
        Self::Own(names.join(", "))
    }
}

impl From<&ErrorKind> for CauseValue {
    fn from(kind: &ErrorKind) -> Self {
        Self::Kind(*kind)
    }
}

impl From<&RemoteText> for CauseValue {
    fn from(RemoteText(words): &RemoteText) -> Self {
        Self::Agent(words.clone())
    }
}

/// Defines an enum of reasons with the keys of their words; each field fills the placeholder of the same name.
macro_rules! causes {
    ($(#[$about:meta])* $name:ident:
        $($(#[$what:meta])* $variant:ident $({ $($(#[$of:meta])* $field:ident: $kind:ty),* })? => $key:literal;)*
    ) => {
        $(#[$about])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub enum $name {
            $($(#[$what])* $variant $({ $($(#[$of])* $field: $kind),* })?,)*
        }

        impl $name {
            /// The keys of all words, with the names of their placeholders.
            pub const KEYS: &'static [(&'static str, &'static [&'static str])] =
                &[$(($key, &[$($(stringify!($field)),*)?])),*];

            /// Returns the key of its words.
            pub fn key(&self) -> &'static str {
                match self {
                    $(Self::$variant { .. } => $key,)*
                }
            }

            /// Returns the values of the placeholders.
            pub fn details(&self) -> Vec<(&'static str, CauseValue)> {
                match self {
                    $(Self::$variant $({ $($field),* })? =>
                        vec![$($((stringify!($field), CauseValue::from($field))),*)?],)*
                }
            }
        }

        impl std::fmt::Display for $name {
            /// Writes the key, for a log line; the values may come from a stranger.
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.key())
            }
        }
    };
}

causes! {
    /// Why the server does not offer a usable WebSocket.
    NoWebSocket:
    /// It is something else.
    SomethingElse => "cause.websocket.none";
    /// It redirects, which is not followed.
    Redirects => "cause.websocket.redirects";
    /// It redirects to another place of the same server, which is not followed.
    RedirectsTo {
        /// The path there.
        path: String,
        /// The address to watch instead.
        instead: String
    } => "cause.websocket.redirects_to";
    /// It speaks none of the required subprotocols.
    Without {
        /// The subprotocols offered, best first.
        protocol: &'static [&'static str]
    } => "cause.websocket.without";
    /// It chose a subprotocol that was not offered.
    NotOffered => "cause.websocket.not_offered";
}

causes! {
    /// Why there is no secure connection.
    NoTls:
    /// The certificate has expired.
    Expired => "cause.tls.expired";
    /// The certificate is not valid yet.
    NotYet => "cause.tls.not_yet";
    /// Its issuer is not trusted here.
    Issuer => "cause.tls.issuer";
    /// It belongs to another server.
    OtherName => "cause.tls.name";
    /// It was revoked.
    Revoked => "cause.tls.revoked";
    /// It is invalid for another reason.
    Certificate => "cause.tls.certificate";
    /// The server speaks something else.
    SomethingElse => "cause.tls.none";
    /// The server refuses.
    Refused => "cause.tls.refused";
    /// The server offers no version that is safe.
    Versions => "cause.tls.versions";
    /// Something else went wrong.
    Handshake => "cause.tls.handshake";
    /// This system has no trusted root certificates.
    NoRoots => "cause.tls.no_roots";
    /// A secure connection can't be set up here.
    NoSetup => "cause.tls.no_setup";
}

causes! {
    /// Why something can't be used, or did not work.
    Cause:
    /// An address has no host or no port.
    NoConnection => "cause.address.connection";
    /// An address does not make a valid request.
    NoRequest => "cause.address.request";
    /// A path would lead to another server.
    LeavesServer => "cause.address.leaves";
    /// A protocol's version does not fit into a header.
    Version => "cause.request.version";
    /// A subprotocol's name does not fit into a header.
    Subprotocol => "cause.request.subprotocol";
    /// A token does not fit into a header.
    Token => "cause.request.token";
    /// Too many requests are waiting for their answers.
    TooManyRequests => "cause.request.too_many";
    /// Too many replies are waiting to be sent.
    TooManyReplies => "cause.reply.too_many";
    /// The server speaks something other than HTTP.
    NoHttp => "cause.http.none";
    /// The host can't be reached.
    Network => "cause.network";
    /// The rules of WebSocket are broken.
    BrokenWebSocket => "cause.websocket.broken";
    /// A message is not text.
    Bytes => "cause.websocket.bytes";
    /// The rules of a stream are broken.
    BrokenStream => "cause.stream.broken";
    /// The expected JSON document is not one.
    NoDocument => "cause.document.none";
    /// The server names an address that is not valid.
    NoStream => "cause.stream.nowhere";
    /// The server names an address that must not be followed.
    UnsafeStream => "cause.stream.unsafe";
    /// A redirect without a target.
    RedirectNowhere => "cause.redirect.nowhere";
    /// A redirect of a message that would lose it.
    RedirectLoses => "cause.redirect.loses";
    /// A redirect of a message to another server.
    RedirectMessage => "cause.redirect.message";
    /// A redirect of the handshake to another server.
    RedirectHandshake => "cause.redirect.handshake";
    /// One redirect after another.
    RedirectAgain => "cause.redirect.again";
    /// A redirect from a secure to an insecure address.
    RedirectToPlain => "cause.redirect.plain";
    /// A redirect to something other than a web server.
    RedirectNoHttp => "cause.redirect.no_http";
    /// A redirect to another machine without security.
    RedirectOpen {
        /// The other machine.
        host: String
    } => "cause.redirect.open";
    /// A redirect to an address that contains a credential.
    RedirectCredential => "cause.redirect.credential";
    /// There is no program to start.
    NoProgram => "cause.program.none";
    /// A program does not exist.
    ProgramMissing {
        /// The program's name.
        name: String
    } => "cause.program.missing";
    /// A program may not be run.
    ProgramForbidden {
        /// The program's name.
        name: String
    } => "cause.program.forbidden";
    /// A program does not start.
    ProgramNotStarted {
        /// The program's name.
        name: String,
        /// The system's reason.
        why: ErrorKind
    } => "cause.program.not_started";
    /// A program has no input or output.
    ProgramUnreachable {
        /// The program's name.
        name: String
    } => "cause.program.unreachable";
    /// A program was gone before it could be waited for.
    ProgramOver {
        /// The program's name.
        name: String
    } => "cause.program.over";
    /// It is unknown how a program ended.
    ProgramGone => "cause.program.gone";
    /// A program sends nothing more.
    ProgramMute => "cause.program.mute";
    /// There is nothing at a socket's path.
    NoSocket {
        /// The socket's path.
        name: String
    } => "cause.socket.none";
    /// Nobody listens at the socket of a program.
    NoProgramAtSocket {
        /// The program, as it is typed.
        program: String,
        /// The socket's path.
        name: String
    } => "cause.socket.program";
    /// No agent has a socket.
    NoAgents {
        /// The agent that was looked for.
        id: String
    } => "cause.socket.no_agents";
    /// Only other agents have a socket.
    OtherAgents {
        /// The agent that was looked for.
        id: String,
        /// The agents that have one.
        there: String
    } => "cause.socket.other_agents";
    /// A socket may not be used.
    SocketForbidden {
        /// The socket's path.
        name: String
    } => "cause.socket.forbidden";
    /// A path is too long for a socket's address.
    SocketPath => "cause.socket.path";
    /// What is at a path is not a socket.
    SocketUnusable {
        /// The path.
        name: String
    } => "cause.socket.unusable";
    /// A socket can't be reached.
    SocketUnreachable {
        /// The socket's path.
        name: String,
        /// The system's reason.
        why: ErrorKind
    } => "cause.socket.unreachable";
    /// The owner of a socket is unknown.
    SocketOfNobody => "cause.socket.whose";
    /// A socket belongs to another user.
    SocketOfAnother {
        /// The user's id.
        user: u32
    } => "cause.socket.another";
    /// No program listens at a pipe.
    NoPipe {
        /// The pipe's name.
        name: String
    } => "cause.pipe.none";
    /// A pipe may not be used.
    PipeForbidden {
        /// The pipe's name.
        name: String
    } => "cause.pipe.forbidden";
    /// A pipe can't be reached.
    PipeUnreachable {
        /// The pipe's name.
        name: String,
        /// The system's reason.
        why: ErrorKind
    } => "cause.pipe.unreachable";
    /// Another user's program listens at a pipe.
    PipeOfAnother => "cause.pipe.another";
    /// The other side uses neither framing of the protocol: lengths or lines.
    NeitherFraming => "cause.framing.neither";
    /// The messages do not end where their lengths say.
    OutOfStep => "cause.framing.out_of_step";
    /// A file does not exist.
    NoFile {
        /// The file's name.
        name: String
    } => "cause.file.none";
    /// A file may not be read.
    FileForbidden {
        /// The file's name.
        name: String
    } => "cause.file.forbidden";
    /// A file can't be opened.
    FileNotOpened {
        /// The file's name.
        name: String,
        /// The system's reason.
        why: ErrorKind
    } => "cause.file.not_opened";
    /// There is a folder in place of a file.
    Folder {
        /// The folder's name.
        name: String
    } => "cause.file.folder";
    /// Reading a file broke off.
    FileBroke {
        /// The system's reason.
        why: ErrorKind
    } => "cause.file.broke";
    /// The reader of a file could not be started.
    NoReader => "cause.file.no_reader";
    /// A file to be followed does not exist yet.
    FileNotYet => "cause.file.not_yet";
    /// The file was replaced by another one.
    FileReplaced => "cause.file.replaced";
    /// The file has become shorter.
    FileCut => "cause.file.cut";
    /// The contents of the file were rewritten.
    FileRewritten => "cause.file.rewritten";
    /// The NATS server wants to know who this is, and no credentials are set.
    BrokerWants => "cause.broker.wants";
    /// A broker does not accept the credentials.
    BrokerRefuses => "cause.broker.refuses";
    /// The credentials for a broker can't be used.
    BrokerCredentials => "cause.broker.credentials";
    /// A file has no credentials for a broker.
    NoBrokerCredentials {
        /// The file's name.
        name: String
    } => "cause.broker.no_credentials";
    /// A broker stores nothing, because JetStream is switched off.
    BrokerNoStreams => "cause.broker.no_streams";
    /// A broker has no stream for a space.
    BrokerNoStream => "cause.broker.no_stream";
    /// What a broker stored for a space was deleted.
    BrokerStreamGone => "cause.broker.stream_gone";
    /// A broker has no room for more events.
    BrokerFull => "cause.broker.full";
    /// A broker does not have the room that a space needs.
    BrokerSmall => "cause.broker.small";
    /// A broker does not confirm that it stores messages.
    BrokerSilent => "cause.broker.silent";
    /// Another bridge publishes under the same name.
    BrokerTwin {
        /// The name.
        host: String
    } => "cause.broker.twin";
    /// A person's name can't be one for a broker.
    BrokerName => "cause.broker.name";
    /// The person already follows from another program.
    BrokerPersonTwice {
        /// Their name at the broker.
        name: String
    } => "cause.broker.person_twice";
    /// A broker refuses something, in its own words.
    BrokerSaid {
        /// The words.
        words: RemoteText
    } => "cause.broker.said";
    /// Listening is not possible.
    NoListening {
        /// The address.
        name: String,
        /// The system's reason.
        why: ErrorKind
    } => "cause.listening";
    /// A question was decided before its answer was sent.
    QuestionOver => "cause.answer.question_over";
    /// The server refuses an answer without a reason.
    AnswerRefused => "cause.answer.refused";
    /// The server complains about something without naming it.
    Complaint => "cause.answer.complaint";
    /// A name is too long to be answered under.
    NameTooLong => "cause.answer.name_too_long";
    /// The other side's own words about it.
    Said {
        /// The words.
        words: RemoteText
    } => "cause.said";
}
