//! Who is admitted at an address: a bridge's watchers, and no web page that a browser on this machine happens to show.
//!
//! Responsibilities: judging a request's `Host`, `Origin` and `Authorization`, the answer to a browser's preflight. Not
//! here: Unix sockets and pipes, which the system keeps for their owner (`endpoints`).
//!
//! # Mental model
//! Whoever reaches the address can answer an agent's questions. A browser can be made to reach it by any page that is
//! open in it: it then names the page's origin, or, if the page's own name was made to point here, that name as the
//! host. So an origin must be on the person's list, and without a token the host must be this machine by one of its
//! loopback names. A token is compared by its digest, so that the time it takes says nothing about it.

use std::net::IpAddr;

use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    AUTHORIZATION, HOST, ORIGIN, VARY,
};
use http::{HeaderMap, HeaderValue};
use ring::digest::{SHA256, digest};

/// Who is admitted at an address.
#[derive(Clone, Default)]
pub struct Admission {
    /// The digest of the bearer token that a request must carry, if it must carry one.
    token: Option<Vec<u8>>,
    /// The origins of web pages that are admitted.
    origins: Vec<String>,
}

/// Why a request is not admitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NotAdmitted {
    /// It comes from a web page of an origin that is not on the list.
    Origin,
    /// It names a host that is not this machine.
    Host,
    /// It has no token, or another one.
    Token,
}

impl std::fmt::Debug for Admission {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Admission")
            .field("origins", &self.origins)
            .finish_non_exhaustive()
    }
}

impl Admission {
    /// Admits whoever sends this token, if one is required, and web pages of these origins.
    pub fn new(token: Option<&str>, origins: Vec<String>) -> Self {
        Self {
            token: token.map(hashed),
            origins,
        }
    }

    /// Returns whether a request with these headers is admitted.
    pub(super) fn judge(&self, headers: &HeaderMap) -> Result<(), NotAdmitted> {
        let text = |name| headers.get(name).map(HeaderValue::to_str);
        match text(ORIGIN) {
            None => {}
            Some(Ok(origin)) if self.origins.iter().any(|one| one == origin) => {}
            Some(Ok(_) | Err(_)) => return Err(NotAdmitted::Origin),
        }
        match &self.token {
            Some(token) => {
                let sent = text(AUTHORIZATION).and_then(Result::ok);
                let sent = sent.and_then(|value| value.strip_prefix("Bearer "));
                let is_right = sent.is_some_and(|sent| hashed(sent.trim()) == *token);
                is_right.then_some(()).ok_or(NotAdmitted::Token)
            }
            None => match text(HOST) {
                None => Ok(()),
                Some(Ok(host)) if is_this_machine(host) => Ok(()),
                Some(Ok(_) | Err(_)) => Err(NotAdmitted::Host),
            },
        }
    }

    /// Returns the headers that allow the web page of an admitted origin to read the answer.
    pub(super) fn for_page(&self, headers: &HeaderMap) -> HeaderMap {
        let mut allowed = HeaderMap::new();
        let origin = headers.get(ORIGIN).filter(|origin| {
            let origin = origin.to_str().ok();
            origin.is_some_and(|origin| self.origins.iter().any(|one| one == origin))
        });
        if let Some(origin) = origin {
            allowed.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
            allowed.insert(
                ACCESS_CONTROL_ALLOW_METHODS,
                HeaderValue::from_static("GET, POST"),
            );
            allowed.insert(
                ACCESS_CONTROL_ALLOW_HEADERS,
                HeaderValue::from_static("authorization, content-type, last-event-id"),
            );
            allowed.insert(VARY, HeaderValue::from_static("origin"));
        }
        allowed
    }
}

fn hashed(token: &str) -> Vec<u8> {
    digest(&SHA256, token.as_bytes()).as_ref().to_vec()
}

/// Returns whether the host of a request, with or without a port, is a loopback name of this machine.
fn is_this_machine(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    let is_loopback = name
        .parse()
        .is_ok_and(|address: IpAddr| address.is_loopback());
    is_loopback || name.eq_ignore_ascii_case("localhost")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(admission: &Admission, headers: &[(&'static str, &str)]) -> Result<(), NotAdmitted> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.insert(*name, HeaderValue::from_str(value).unwrap());
        }
        admission.judge(&map)
    }

    #[test]
    fn without_a_token_only_this_machine_by_its_own_names() {
        let open = Admission::default();
        for host in [
            "127.0.0.1:8080",
            "localhost:1",
            "LOCALHOST",
            "[::1]:9",
            "127.1.2.3",
        ] {
            assert_eq!(judged(&open, &[("host", host)]), Ok(()), "{host}");
        }
        for host in [
            "evil.example",
            "evil.example:8080",
            "127.0.0.1.evil.example",
            "10.0.0.1",
            "",
        ] {
            let outcome = judged(&open, &[("host", host)]);
            assert_eq!(outcome, Err(NotAdmitted::Host), "{host}");
        }
    }

    #[test]
    fn a_web_page_must_be_on_the_list() {
        let one = Admission::new(None, vec!["http://localhost:3000".to_owned()]);
        let from = |origin| judged(&one, &[("host", "localhost:80"), ("origin", origin)]);
        assert_eq!(from("http://localhost:3000"), Ok(()));
        for origin in [
            "http://localhost:3001",
            "https://localhost:3000",
            "null",
            "*",
        ] {
            assert_eq!(from(origin), Err(NotAdmitted::Origin), "{origin}");
        }
    }

    #[test]
    fn a_token_is_wanted_whole() {
        let one = Admission::new(Some("s3cret"), Vec::new());
        let with = |value| judged(&one, &[("host", "build-3:80"), ("authorization", value)]);
        assert_eq!(with("Bearer s3cret"), Ok(()));
        for value in [
            "Bearer s3cre",
            "Bearer s3crets",
            "s3cret",
            "Basic s3cret",
            "Bearer ",
        ] {
            assert_eq!(with(value), Err(NotAdmitted::Token), "{value}");
        }
        assert_eq!(judged(&one, &[]), Err(NotAdmitted::Token));
        assert!(!format!("{one:?}").contains("s3cret"));
    }
}
