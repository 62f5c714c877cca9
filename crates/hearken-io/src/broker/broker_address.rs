//! The address of a NATS server, and the space there.

use std::fmt;

use reqwest::Url;

use crate::transport::SourceError;
use crate::transport::network_address::{NAME_CHARACTERS, is_loopback};
use crate::transport::outside_text::clean;

/// The port of a NATS server, if an address names none.
const PORT: u16 = 4222;
/// The longest name of a space, in characters.
const LONGEST_SPACE: usize = 64;

/// The prefix of an address that means the agents on a server instead of a space.
const AGENTS: &str = "agents+";

/// The address of a NATS server as the person gave it: `nats://HOST[:PORT][/SPACE]`, or `tls://…` to insist on TLS;
/// `agents+nats://HOST[:PORT]` means the agents there that speak the Synadia Agent Protocol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrokerAddress {
    host: String,
    port: u16,
    secure: bool,
    local: bool,
    space: Option<String>,
    is_of_agents: bool,
}

impl BrokerAddress {
    /// Parses the address of agents, and any other.
    ///
    /// # Errors
    /// As [`BrokerAddress::parse`]; also [`SourceError::BadBroker`] if it names a space and agents.
    pub fn parse_source(text: &str, allow_plain: bool) -> Result<Self, SourceError> {
        let is_agents = text
            .get(..AGENTS.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(AGENTS));
        if !is_agents {
            return Self::parse(text, allow_plain);
        }
        let address = Self::parse(text.get(AGENTS.len()..).unwrap_or_default(), allow_plain)?;
        match address.space {
            Some(_) => Err(SourceError::BadBroker),
            None => Ok(address.of_agents()),
        }
    }

    /// Parses the address of a space.
    ///
    /// # Errors
    /// [`SourceError::Credential`] if it contains a credential, [`SourceError::PlainHttp`] if it leads to another
    /// machine without insisting on TLS, [`SourceError::BadBroker`] if it is not an address.
    pub fn parse(text: &str, allow_plain: bool) -> Result<Self, SourceError> {
        let (scheme, rest) = text.split_once("://").ok_or(SourceError::BadBroker)?;
        let secure = match scheme.to_ascii_lowercase().as_str() {
            "nats" => false,
            "tls" => true,
            _ => return Err(SourceError::BadBroker),
        };
        // Its parts are those of a web address.
        let url = Url::parse(&format!("http://{rest}")).map_err(|_| SourceError::BadBroker)?;
        let host = url.host_str().ok_or(SourceError::BadBroker)?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(SourceError::Credential);
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(SourceError::BadBroker);
        }
        let local = is_loopback(&url);
        if !secure && !local && !allow_plain {
            return Err(SourceError::PlainBroker {
                host: clean(host, NAME_CHARACTERS),
            });
        }
        let space = url.path().trim_matches('/');
        let fits = space.len() <= LONGEST_SPACE
            && space
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
        if !fits {
            return Err(SourceError::BadBroker);
        }
        Ok(Self {
            host: host.to_owned(),
            // A web address leaves its own usual port out.
            port: match rest.split(['/', '?', '#']).next() {
                Some(place) if place.ends_with(":80") => 80,
                Some(_) | None => url.port().unwrap_or(PORT),
            },
            secure,
            local,
            space: (!space.is_empty()).then(|| space.to_owned()),
            is_of_agents: false,
        })
    }

    /// Returns the address of the agents on the same server.
    #[must_use]
    pub fn of_agents(&self) -> Self {
        Self {
            space: None,
            is_of_agents: true,
            ..self.clone()
        }
    }

    /// Returns whether it means the agents on the server instead of a space.
    pub fn is_of_agents(&self) -> bool {
        self.is_of_agents
    }

    /// Returns whether it means everything on the server, because it names neither a space nor the agents.
    pub fn is_of_all(&self) -> bool {
        self.space.is_none() && !self.is_of_agents
    }

    /// Returns the space that it names.
    pub fn space(&self) -> Option<&str> {
        self.space.as_deref()
    }

    /// Returns whether it insists on TLS.
    pub fn is_secure(&self) -> bool {
        self.secure
    }

    /// Returns whether the server is on this machine.
    pub fn is_local(&self) -> bool {
        self.local
    }

    /// Returns the address of the server, without the space.
    pub(crate) fn server(&self) -> String {
        let scheme = if self.secure { "tls" } else { "nats" };
        format!("{scheme}://{}:{}", self.host, self.port)
    }
}

impl fmt::Display for BrokerAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_of_agents {
            f.write_str(AGENTS)?;
        }
        f.write_str(&self.server())?;
        match &self.space {
            Some(space) => write!(f, "/{space}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_names_a_server_and_perhaps_a_space() {
        for (text, shown, space) in [
            ("nats://localhost", "nats://localhost:4222", None),
            ("NATS://127.0.0.1:80", "nats://127.0.0.1:80", None),
            ("nats://[::1]:4333/", "nats://[::1]:4333", None),
            (
                "tls://nats.example/team-a",
                "tls://nats.example:4222/team-a",
                Some("team-a"),
            ),
        ] {
            let address = BrokerAddress::parse(text, false).unwrap();
            assert_eq!(address.to_string(), shown);
            assert_eq!(address.space(), space);
        }
    }

    #[test]
    fn agents_have_an_address_of_their_own_without_a_space() {
        let parse = |text| BrokerAddress::parse_source(text, false);
        for (text, shown) in [
            ("agents+nats://localhost", "agents+nats://localhost:4222"),
            (
                "Agents+TLS://nats.example/",
                "agents+tls://nats.example:4222",
            ),
        ] {
            let address = parse(text).unwrap();
            assert!(address.is_of_agents() && !address.is_of_all());
            assert_eq!(address.to_string(), shown);
        }
        for text in [
            "agents+nats://localhost/main",
            "agents+agents+nats://localhost",
            "agents+http://localhost",
            "agents+",
        ] {
            assert_eq!(parse(text), Err(SourceError::BadBroker), "{text}");
        }
        let all = parse("nats://localhost").unwrap();
        assert!(all.is_of_all() && !all.is_of_agents());
        assert!(!parse("nats://localhost/main").unwrap().is_of_all());
        assert_eq!(all.of_agents(), parse("agents+nats://localhost").unwrap());
        // A bridge publishes in a space.
        let bridged = BrokerAddress::parse("agents+nats://localhost", false);
        assert_eq!(bridged, Err(SourceError::BadBroker));
    }

    #[test]
    fn credentials_and_open_connections_to_other_machines_are_refused() {
        let parse = |text| BrokerAddress::parse(text, false);
        assert_eq!(
            parse("nats://anna:s3cret@localhost"),
            Err(SourceError::Credential)
        );
        assert_eq!(
            parse("nats://s3cret@localhost"),
            Err(SourceError::Credential)
        );
        let host = "nats.example".to_owned();
        assert_eq!(
            parse("nats://nats.example"),
            Err(SourceError::PlainBroker { host })
        );
        assert!(BrokerAddress::parse("nats://nats.example", true).is_ok());
        for text in [
            "nats:localhost",
            "nats://",
            "nats://localhost/a/b",
            "nats://localhost/a.b",
            "nats://localhost/*",
            "nats://localhost?x",
            "http://localhost",
        ] {
            assert_eq!(parse(text), Err(SourceError::BadBroker), "{text}");
        }
    }
}
