//! Why something does not work, where a kind of fault has several reasons: typed until they are worded.
//!
//! Responsibilities: each reason, what it names, and the key of its words. Not here: what follows from a fault
//! (`fault`), the words (`announce`).

use std::io::ErrorKind;

/// What stands in the words of a reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Detail {
    /// A name, a number or an address, as it can be said.
    Own(String),
    /// What the system says of an attempt.
    Kind(ErrorKind),
    /// What the other side says in its own words.
    Agent(String),
}

/// The other side's own words, which its debug form does not show.
#[derive(Clone, PartialEq, Eq)]
pub struct TheirWords(pub String);

impl std::fmt::Debug for TheirWords {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("…")
    }
}

impl From<&String> for Detail {
    fn from(text: &String) -> Self {
        Self::Own(text.clone())
    }
}

impl From<&u32> for Detail {
    fn from(number: &u32) -> Self {
        Self::Own(number.to_string())
    }
}

impl From<&&'static [&'static str]> for Detail {
    fn from(names: &&'static [&'static str]) -> Self {
        Self::Own(names.join(", "))
    }
}

impl From<&ErrorKind> for Detail {
    fn from(kind: &ErrorKind) -> Self {
        Self::Kind(*kind)
    }
}

impl From<&TheirWords> for Detail {
    fn from(TheirWords(words): &TheirWords) -> Self {
        Self::Agent(words.clone())
    }
}

/// Writes an enum of reasons with the keys of their words; what a reason names stands in its words by the same name.
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
            /// The keys of all words, with the names of what stands in them.
            pub const KEYS: &'static [(&'static str, &'static [&'static str])] =
                &[$(($key, &[$($(stringify!($field)),*)?])),*];

            /// Returns the key of its words.
            pub fn key(&self) -> &'static str {
                match self {
                    $(Self::$variant { .. } => $key,)*
                }
            }

            /// Returns what stands in them.
            pub fn details(&self) -> Vec<(&'static str, Detail)> {
                match self {
                    $(Self::$variant $({ $($field),* })? =>
                        vec![$($((stringify!($field), Detail::from($field))),*)?],)*
                }
            }
        }

        impl std::fmt::Display for $name {
            /// Writes the key, for a line of a log; what stands in the words may be a stranger's.
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.key())
            }
        }
    };
}

causes! {
    /// Says why what answers is no WebSocket that can be used.
    NoWebSocket:
    /// It is something else.
    SomethingElse => "cause.websocket.none";
    /// It sends whoever comes elsewhere, which is not followed.
    Redirects => "cause.websocket.redirects";
    /// It speaks none of the subprotocols that it must speak.
    Without {
        /// What was offered, best first.
        protocol: &'static [&'static str]
    } => "cause.websocket.without";
    /// It chose a subprotocol that was not offered.
    NotOffered => "cause.websocket.not_offered";
}

causes! {
    /// Says why there is no secure connection.
    NoTls:
    /// The certificate is of the past.
    Expired => "cause.tls.expired";
    /// The certificate is of the future.
    NotYet => "cause.tls.not_yet";
    /// Nobody here trusts whoever issued it.
    Issuer => "cause.tls.issuer";
    /// It is another server's.
    OtherName => "cause.tls.name";
    /// It was taken back.
    Revoked => "cause.tls.revoked";
    /// It is not valid for another reason.
    Certificate => "cause.tls.certificate";
    /// What answers speaks something else.
    SomethingElse => "cause.tls.none";
    /// The server does not want it.
    Refused => "cause.tls.refused";
    /// The server can only do what is not safe.
    Versions => "cause.tls.versions";
    /// Something else went wrong.
    Handshake => "cause.tls.handshake";
    /// Nothing at all is trusted here.
    NoRoots => "cause.tls.no_roots";
    /// Nothing can be set up here.
    NoSetup => "cause.tls.no_setup";
}

causes! {
    /// Says why something can't be used, or did not work, by its reason alone.
    Cause:
    /// No host or port is in an address.
    NoConnection => "cause.address.connection";
    /// No request can be made of an address.
    NoRequest => "cause.address.request";
    /// A path would lead to another server.
    LeavesServer => "cause.address.leaves";
    /// A protocol's version does not fit into a header.
    Version => "cause.request.version";
    /// A subprotocol's name does not fit into a header.
    Subprotocol => "cause.request.subprotocol";
    /// A token does not fit into a header.
    Token => "cause.request.token";
    /// Too many requests wait for their answer.
    TooManyRequests => "cause.request.too_many";
    /// Too many replies wait to be sent.
    TooManyReplies => "cause.reply.too_many";
    /// What answers speaks something else than HTTP.
    NoHttp => "cause.http.none";
    /// No way leads to the host.
    Network => "cause.network";
    /// A WebSocket's rules are broken.
    BrokenWebSocket => "cause.websocket.broken";
    /// A message is no text.
    Bytes => "cause.websocket.bytes";
    /// A stream's rules are broken.
    BrokenStream => "cause.stream.broken";
    /// What is to be read there is no document.
    NoDocument => "cause.document.none";
    /// The server names an address that is none.
    NoStream => "cause.stream.nowhere";
    /// The server names an address that must not be followed.
    UnsafeStream => "cause.stream.unsafe";
    /// A redirect without a place.
    RedirectNowhere => "cause.redirect.nowhere";
    /// A redirect of a message that loses it.
    RedirectLoses => "cause.redirect.loses";
    /// A redirect of a message to another server.
    RedirectMessage => "cause.redirect.message";
    /// A redirect of the handshake to another server.
    RedirectHandshake => "cause.redirect.handshake";
    /// One redirect behind the other.
    RedirectAgain => "cause.redirect.again";
    /// A redirect from what is secure to what is not.
    RedirectToPlain => "cause.redirect.plain";
    /// A redirect to what is no server of pages.
    RedirectNoHttp => "cause.redirect.no_http";
    /// A redirect to another machine that is not secure.
    RedirectOpen {
        /// The machine.
        host: String
    } => "cause.redirect.open";
    /// A redirect to an address that holds a credential.
    RedirectCredential => "cause.redirect.credential";
    /// Nothing is to be started.
    NoProgram => "cause.program.none";
    /// A program is not there.
    ProgramMissing {
        /// Its name.
        name: String
    } => "cause.program.missing";
    /// A program may not be run.
    ProgramForbidden {
        /// Its name.
        name: String
    } => "cause.program.forbidden";
    /// A program does not start.
    ProgramNotStarted {
        /// Its name.
        name: String,
        /// Why.
        why: ErrorKind
    } => "cause.program.not_started";
    /// A program has no input or output.
    ProgramUnreachable {
        /// Its name.
        name: String
    } => "cause.program.unreachable";
    /// A program was gone before it could be waited for.
    ProgramOver {
        /// Its name.
        name: String
    } => "cause.program.over";
    /// Nobody knows how a program ended.
    ProgramGone => "cause.program.gone";
    /// A program says nothing more.
    ProgramMute => "cause.program.mute";
    /// Nothing is at a socket's path.
    NoSocket {
        /// Its path.
        name: String
    } => "cause.socket.none";
    /// No agent has a socket.
    NoAgents {
        /// The agent that is looked for.
        id: String
    } => "cause.socket.no_agents";
    /// Other agents have a socket.
    OtherAgents {
        /// The agent that is looked for.
        id: String,
        /// Those who have.
        there: String
    } => "cause.socket.other_agents";
    /// A socket may not be used.
    SocketForbidden {
        /// Its path.
        name: String
    } => "cause.socket.forbidden";
    /// A path has no room in a socket's address.
    SocketPath => "cause.socket.path";
    /// What is at a path is no socket.
    SocketUnusable {
        /// The path.
        name: String
    } => "cause.socket.unusable";
    /// A socket can't be reached.
    SocketUnreachable {
        /// Its path.
        name: String,
        /// Why.
        why: ErrorKind
    } => "cause.socket.unreachable";
    /// Nobody knows whose socket it is.
    SocketOfNobody => "cause.socket.whose";
    /// A socket is another person's.
    SocketOfAnother {
        /// Their number.
        user: u32
    } => "cause.socket.another";
    /// Nobody listens at a pipe.
    NoPipe {
        /// Its name.
        name: String
    } => "cause.pipe.none";
    /// A pipe may not be used.
    PipeForbidden {
        /// Its name.
        name: String
    } => "cause.pipe.forbidden";
    /// A pipe can't be reached.
    PipeUnreachable {
        /// Its name.
        name: String,
        /// Why.
        why: ErrorKind
    } => "cause.pipe.unreachable";
    /// Another person's program listens at a pipe.
    PipeOfAnother => "cause.pipe.another";
    /// Neither lengths nor lines.
    NeitherFraming => "cause.framing.neither";
    /// Lengths that lie.
    OutOfStep => "cause.framing.out_of_step";
    /// A file is not there.
    NoFile {
        /// Its name.
        name: String
    } => "cause.file.none";
    /// A file may not be read.
    FileForbidden {
        /// Its name.
        name: String
    } => "cause.file.forbidden";
    /// A file can't be opened.
    FileNotOpened {
        /// Its name.
        name: String,
        /// Why.
        why: ErrorKind
    } => "cause.file.not_opened";
    /// A folder stands where a file should.
    Folder {
        /// Its name.
        name: String
    } => "cause.file.folder";
    /// A file broke off.
    FileBroke {
        /// Why.
        why: ErrorKind
    } => "cause.file.broke";
    /// Nothing could be started that reads it.
    NoReader => "cause.file.no_reader";
    /// A file that grows is not there yet.
    FileNotYet => "cause.file.not_yet";
    /// Another file stands in its place.
    FileReplaced => "cause.file.replaced";
    /// A file has become shorter.
    FileCut => "cause.file.cut";
    /// A file holds something else.
    FileRewritten => "cause.file.rewritten";
    /// Nothing can listen.
    NoListening {
        /// Where.
        name: String,
        /// Why.
        why: ErrorKind
    } => "cause.listening";
    /// A question was decided before its answer went out.
    QuestionOver => "cause.answer.question_over";
    /// The server does not take an answer, and does not say why.
    AnswerRefused => "cause.answer.refused";
    /// The server is not content with something, and does not say with what.
    Complaint => "cause.answer.complaint";
    /// A name is too long to be answered under.
    NameTooLong => "cause.answer.name_too_long";
    /// What the other side says of it.
    Said {
        /// Its words.
        words: TheirWords
    } => "cause.said";
}
