//! Why a request of the person can't be carried out, kept typed until it is worded.
//!
//! Responsibilities: one failure value that propagates like any error, and the phrase keys for errors of modules that
//! have no words. Not here: the words (`announce`), invalid calls (`guide`).

use std::io;
use std::path::Path;

use crate::announce::{Detail, Reason};
use crate::dialect::BadKey;
use crate::keys::{KeptKey, KeyError};
use crate::producer::NoKey;
use crate::protocol;
use crate::transport::{RecordError, SourceError, TlsError};

use super::{OutputError, shown};

/// Why a request can't be carried out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.key())]
pub struct RequestFailure(Reason);

impl RequestFailure {
    /// Creates a failure from the key of its phrase.
    pub fn new(key: &'static str) -> Self {
        Self(Reason::new(key))
    }

    /// Adds a name or a number to the phrase.
    #[must_use]
    pub fn with(self, name: &'static str, text: impl ToString) -> Self {
        Self(self.0.with(name, text))
    }

    /// Adds the cause, as `why`.
    #[must_use]
    pub fn because(self, cause: Reason) -> Self {
        Self(self.0.because("why", cause))
    }

    /// Returns the failure that a file can't be read.
    pub(crate) fn unreadable(path: &Path, cause: Reason) -> Self {
        let failure = Self::new("call.unreadable").with("name", shown(path));
        failure.because(cause)
    }

    /// Returns the failure that other users may write to the folder of a socket or a door.
    pub(crate) fn shared(folder: &Path) -> Self {
        Self::new("call.folder.shared").with("name", shown(folder))
    }

    /// Returns the failure that a file can't be written.
    pub(crate) fn unwritable(path: &Path, error: &io::Error) -> Self {
        let failure = Self::new("call.unwritable").with("name", shown(path));
        failure.because(Reason::of_system(error))
    }

    /// Returns the failure that a file's content can't be used.
    pub(crate) fn in_file(path: &Path, cause: Reason) -> Self {
        let failure = Self::new("call.in_file").with("name", shown(path));
        failure.because(cause)
    }

    /// Returns the cause, or the failure's own reason if it has none.
    pub fn cause(&self) -> &Reason {
        let of_cause = |(_, detail): &'_ (_, Detail)| matches!(detail, Detail::Reason(_));
        let cause = self.0.details().iter().find(|it| of_cause(it));
        match cause {
            Some((_, Detail::Reason(cause))) => cause,
            Some((_, Detail::Own(_))) | None => &self.0,
        }
    }

    /// Returns the reason, ready to be worded.
    pub fn reason(&self) -> &Reason {
        &self.0
    }
}

impl From<Reason> for RequestFailure {
    fn from(reason: Reason) -> Self {
        Self(reason)
    }
}

/// Returns an error as a reason to be worded. An error without a phrase is quoted as is.
pub(crate) fn reason_of(error: &anyhow::Error) -> Reason {
    if let Some(RequestFailure(reason)) = error.downcast_ref() {
        return reason.clone();
    }
    let known = error
        .downcast_ref::<SourceError>()
        .map(source)
        .or_else(|| error.downcast_ref::<TlsError>().map(tls))
        .or_else(|| error.downcast_ref::<RecordError>().map(no_recording))
        .or_else(|| error.downcast_ref::<KeyError>().map(keys))
        .or_else(|| {
            error
                .downcast_ref::<NoKey>()
                .map(|_| Reason::new("call.no_new_key"))
        })
        .or_else(|| error.downcast_ref::<OutputError>().map(unwritten))
        .or_else(|| error.downcast_ref::<io::Error>().map(Reason::of_system));
    known.unwrap_or_else(|| Reason::said(format!("{error:#}")))
}

fn unwritten(OutputError(error): &OutputError) -> Reason {
    Reason::new("call.output").because("why", Reason::of_system(error))
}

/// Returns why a SOURCE can't be used.
pub(crate) fn source(error: &SourceError) -> Reason {
    match error {
        SourceError::UnknownScheme { scheme } => {
            Reason::new("call.source.kind").with("scheme", scheme)
        }
        SourceError::BadAddress => Reason::new("call.source.address"),
        SourceError::Credential => Reason::new("call.source.credential"),
        SourceError::BadBroker => Reason::new("call.source.broker"),
        SourceError::PlainBroker { host } => {
            Reason::new("call.source.plain_broker").with("host", host)
        }
        SourceError::BadSocket => Reason::new("call.source.socket"),
        SourceError::NoSockets => Reason::new("call.source.no_sockets"),
        SourceError::NoProgramSockets { program } => {
            Reason::new("call.source.no_program_sockets").with("program", program)
        }
        SourceError::NoProgramFolder { program } => {
            Reason::new("call.source.no_program_folder").with("program", program)
        }
        SourceError::NoPipes => Reason::new("call.source.no_pipes"),
        SourceError::BadPipe => Reason::new("call.source.pipe"),
        SourceError::PlainHttp { host } => Reason::new("call.source.plain").with("host", host),
        SourceError::Query => Reason::new("call.source.query"),
        SourceError::NoKind { name, address } => Reason::new("call.source.no_kind")
            .with("name", name)
            .with("address", address),
        SourceError::IsSocket { name } => Reason::new("call.source.is_socket").with("name", name),
        SourceError::NoSecret { why } => {
            Reason::new("call.random").because("why", Reason::said(why))
        }
        SourceError::NoSuchFile { name } => Reason::new("call.source.no_file").with("name", name),
    }
}

/// Returns why certificates or a key can't be used.
pub(crate) fn tls(error: &TlsError) -> Reason {
    let at = |key, path: &Path| Reason::new(key).with("path", shown(path));
    match error {
        TlsError::Unreadable { path, kind } => {
            RequestFailure::unreadable(path, Reason::of_reading(&(*kind).into())).0
        }
        TlsError::TooLarge { path, limit } => RequestFailure::unreadable(path, too_large(*limit)).0,
        TlsError::NoCertificate { path } => at("call.tls.no_certificate", path),
        TlsError::NoKey { path } => at("call.tls.no_key", path),
        TlsError::Half => Reason::new("call.tls.half"),
        TlsError::Mismatch { certificate, key } => Reason::new("call.tls.mismatch")
            .with("key", shown(key))
            .with("certificate", shown(certificate)),
        TlsError::BadCertificate { path } => at("call.tls.bad_certificate", path),
    }
}

/// Returns the reason that a file exceeds the read limit.
pub(crate) fn too_large(limit: u64) -> Reason {
    Reason::new("call.too_large").with("limit", limit)
}

/// Returns why a recording can't be made, or not to its end.
fn no_recording(error: &RecordError) -> Reason {
    match error {
        RecordError::AlreadyExists { .. } | RecordError::Create { .. } => recording(error),
        RecordError::Write(_) | RecordError::Full { .. } => {
            Reason::new("record.stopped").because("why", recording(error))
        }
    }
}

/// Returns why recording is not possible, or no longer possible.
pub(crate) fn recording(error: &RecordError) -> Reason {
    match error {
        RecordError::AlreadyExists { name } => Reason::new("record.exists").with("name", name),
        RecordError::Create { name, source } => Reason::new("record.not_made")
            .with("name", name)
            .because("why", Reason::of_system(source)),
        RecordError::Write(error) => {
            Reason::new("record.unwritten").because("why", Reason::of_system(error))
        }
        RecordError::Full { limit } => Reason::new("record.full").with("limit", limit),
    }
}

/// Returns why the person's key bindings can't be used.
pub(crate) fn keys(error: &KeyError) -> Reason {
    let why = match error {
        KeyError::UnknownCommand { name } => Reason::new("call.keys.command")
            .with("name", format!("{name:?}"))
            .with("names", crate::keys::command_names().join(", ")),
        KeyError::UnknownKey { command, name } => Reason::new("call.keys.key")
            .with("command", command)
            .with("name", format!("{name:?}")),
        // This names the key itself, so nothing need come before it.
        KeyError::Reserved { command, name, why } => {
            return Reason::new("call.keys.reserved")
                .with("command", command)
                .with("name", name)
                .because(
                    "why",
                    Reason::new(match why {
                        KeptKey::Idle => "call.keys.idle",
                        KeptKey::Terminal => "call.keys.terminal",
                    }),
                );
        }
        KeyError::Conflict {
            name,
            first,
            second,
        } => Reason::new("call.keys.conflict")
            .with("name", name)
            .with("first", first)
            .with("second", second),
        KeyError::Unreachable { name } => Reason::new("call.keys.needed").with("name", name),
        KeyError::HalfAScan => Reason::new("call.keys.scan"),
    };
    Reason::new("call.keys").because("why", why)
}

/// Returns why the key of a trusted agent can't be used.
pub(crate) fn trusted(error: protocol::KeyError) -> Reason {
    Reason::new(match error {
        protocol::KeyError::NotPem => "call.trusted.no_pem",
        protocol::KeyError::Private => "call.trusted.private",
        protocol::KeyError::OtherKind => "call.trusted.kind",
    })
}

/// Returns why an identity's key can't be used.
pub(crate) fn identity(BadKey: BadKey) -> Reason {
    Reason::new("call.identity.no_key")
}
