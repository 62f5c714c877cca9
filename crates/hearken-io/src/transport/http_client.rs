//! HTTP for all links: one client, and one classification of errors.
//!
//! Responsibilities: building the client once (TLS provider, roots, keepalive, no redirects, no retries), turning
//! reqwest's errors into [`Fault`]s without addresses or payloads, `Retry-After`, the token's header. Not here:
//! requests and replies (`http_server`), the stream (`sse`).
//!
//! Which certificates `https` trusts is in `tls`. Proxies: the usual environment variables apply only to `https` to
//! other machines; plain http and this machine are always reached directly, so that nothing readable passes through a
//! third party.

use std::error::Error;
use std::io;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimeParser;
use reqwest::Url;
use reqwest::header::{DATE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};

use super::network_address::is_loopback;
use super::secret::Secret;
use super::tls::Tls;
use crate::link::{Cause, Fault, NoTls};

/// How long a quiet connection goes unprobed, the interval between probes, and how many may fail:
/// the kernel notices the vanished peer of a silent stream after about 75 s.
const KEEPALIVE: (Duration, Duration, u32) = (Duration::from_secs(30), Duration::from_secs(15), 3);

/// The versions of HTTP that a secure connection offers, best first.
const ALPN: [&[u8]; 2] = [b"h2", b"http/1.1"];

/// The user agent of all requests.
pub(super) const USER_AGENT: &str = concat!("hearken/", env!("CARGO_PKG_VERSION"));

/// The clients that all links share, each built when first needed.
#[derive(Debug, Clone)]
pub(super) struct SharedClient {
    connect_timeout: Duration,
    tls: Tls,
    slots: Arc<ClientSlots>,
}

type ClientSlot = OnceLock<Result<reqwest::Client, Fault>>;

/// One client for each kind of route. Plain http has its own, because a system without any trusted
/// root can't build a TLS client but must still reach this machine.
#[derive(Debug, Default)]
struct ClientSlots {
    plain: ClientSlot,
    secure_here: ClientSlot,
    secure_away: ClientSlot,
}

impl SharedClient {
    pub(super) fn new(connect_timeout: Duration, tls: Tls) -> Self {
        Self {
            connect_timeout,
            tls,
            slots: Arc::default(),
        }
    }

    /// Returns the client for an address.
    pub(super) fn get(&self, url: &Url) -> Result<reqwest::Client, Fault> {
        let here = is_loopback(url);
        let slot = match (url.scheme() == "https", here) {
            (false, _) => &self.slots.plain,
            (true, true) => &self.slots.secure_here,
            (true, false) => &self.slots.secure_away,
        };
        slot.get_or_init(|| self.build(url.scheme() == "https", here))
            .clone()
    }

    /// Returns the person's certificates.
    pub(super) fn own_tls(&self) -> &Tls {
        &self.tls
    }

    /// Returns the TLS configuration for protocols other than HTTP.
    pub(super) fn tls(&self, protocols: &[&[u8]]) -> Result<rustls::ClientConfig, Fault> {
        self.tls.client_config(protocols)
    }

    fn build(&self, secure: bool, here: bool) -> Result<reqwest::Client, Fault> {
        // This fails only if a provider is already installed, which is then used.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let (idle, interval, probes) = KEEPALIVE;
        let mut builder = reqwest::Client::builder()
            .user_agent(USER_AGENT)
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never())
            .referer(false)
            .connect_timeout(self.connect_timeout)
            .tcp_keepalive(idle)
            .tcp_keepalive_interval(interval)
            .tcp_keepalive_retries(probes)
            // No connection is reused: a reply on a stale one could fail without telling us whether it arrived, and a
            // stream keeps its own connection for life.
            .pool_max_idle_per_host(0);
        if !secure || here {
            builder = builder.no_proxy();
        }
        builder = if secure {
            builder.tls_backend_preconfigured(self.tls.client_config(&ALPN)?)
        } else {
            builder.tls_certs_only([])
        };
        builder.build().map_err(|error| fault_of(&error))
    }
}

/// Builds the Authorization header of a token or a password.
///
/// # Errors
/// [`Fault::Unusable`] if the token contains a character that no header can carry.
pub(super) fn bearer(token: Option<&Secret>) -> Result<Option<HeaderValue>, Fault> {
    let Some(token) = token else {
        return Ok(None);
    };
    let mut value =
        HeaderValue::from_str(&token.header()).map_err(|_| Fault::Unusable(Cause::Token))?;
    value.set_sensitive(true);
    Ok(Some(value))
}

/// Builds the header that names a version, the only header that a dialect may set.
///
/// # Errors
/// [`Fault::Unusable`] for an invalid name or value.
pub(super) fn version_header(
    (name, value): (&'static str, &'static str),
) -> Result<(HeaderName, HeaderValue), Fault> {
    let unfit = || Fault::Unusable(Cause::Version);
    let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| unfit())?;
    if !name.as_str().ends_with("-version") {
        return Err(unfit());
    }
    Ok((name, HeaderValue::from_str(value).map_err(|_| unfit())?))
}

/// Classifies the error of a request or a body, without its address.
pub(super) fn fault_of(error: &reqwest::Error) -> Fault {
    if let Some(fault) = fault_in_chain(error) {
        fault
    } else if error.is_timeout() {
        Fault::TimedOut
    } else if error.is_builder() {
        Fault::Unusable(Cause::NoRequest)
    } else {
        // The remaining errors are connections that broke in some way; reqwest does not distinguish further.
        Fault::Closed
    }
}

/// Returns the fault of the first informative error in a chain.
pub(crate) fn fault_in_chain(error: &(dyn Error + 'static)) -> Option<Fault> {
    let mut cause = Some(error);
    while let Some(found) = cause {
        if let Some(fault) = fault_of_one(found) {
            return Some(fault);
        }
        cause = found.source();
    }
    None
}

/// Returns the fault of one error in a chain, if it is informative.
fn fault_of_one(error: &(dyn Error + 'static)) -> Option<Fault> {
    if let Some(tls) = error.downcast_ref::<rustls::Error>() {
        return Some(Fault::Tls(no_tls(tls)));
    }
    if let Some(http) = error.downcast_ref::<hyper::Error>() {
        return http.is_parse().then_some(Fault::Unusable(Cause::NoHttp));
    }
    if let Some(io) = error.downcast_ref::<io::Error>() {
        return fault_of_io(io);
    }
    // The resolver's error has no type of its own that can be named here.
    error
        .to_string()
        .starts_with("dns error")
        .then_some(Fault::UnknownHost)
}

pub(super) fn fault_of_io(error: &io::Error) -> Option<Fault> {
    // An io::Error hides its inner error from `source`, and TLS errors are wrapped twice.
    if let Some(inner) = error.get_ref()
        && let Some(fault) = fault_in_chain(inner)
    {
        return Some(fault);
    }
    match error.kind() {
        io::ErrorKind::ConnectionRefused => Some(Fault::Refused),
        io::ErrorKind::TimedOut => Some(Fault::TimedOut),
        io::ErrorKind::NetworkUnreachable
        | io::ErrorKind::HostUnreachable
        | io::ErrorKind::NetworkDown => Some(Fault::Other(Cause::Network)),
        io::ErrorKind::ConnectionReset
        | io::ErrorKind::ConnectionAborted
        | io::ErrorKind::BrokenPipe
        | io::ErrorKind::UnexpectedEof => Some(Fault::Closed),
        _ => None,
    }
}

/// Classifies a TLS error in our own words: rustls' texts contain names chosen by the server.
fn no_tls(error: &rustls::Error) -> NoTls {
    use rustls::CertificateError as Certificate;
    match error {
        rustls::Error::InvalidCertificate(certificate) => match certificate {
            Certificate::Expired | Certificate::ExpiredContext { .. } => NoTls::Expired,
            Certificate::NotValidYet | Certificate::NotValidYetContext { .. } => NoTls::NotYet,
            // An issuer with the same name but another key is not the trusted one either.
            Certificate::UnknownIssuer | Certificate::BadSignature => NoTls::Issuer,
            Certificate::NotValidForName | Certificate::NotValidForNameContext { .. } => {
                NoTls::OtherName
            }
            Certificate::Revoked => NoTls::Revoked,
            _ => NoTls::Certificate,
        },
        rustls::Error::InvalidMessage(_) => NoTls::SomethingElse,
        rustls::Error::AlertReceived(_) => NoTls::Refused,
        rustls::Error::PeerIncompatible(_) => NoTls::Versions,
        _ => NoTls::Handshake,
    }
}

/// Returns the fault for an unsuccessful status.
pub(super) fn status_fault(status: u16, headers: &HeaderMap) -> Fault {
    Fault::Status {
        status,
        retry_after: retry_after_of(headers),
    }
}

/// Parses Retry-After into seconds, by this machine's clock if the server sends no time.
pub(super) fn retry_after_of(headers: &HeaderMap) -> Option<u64> {
    retry_after(headers, Timestamp::now())
}

/// Parses either form of Retry-After into seconds; a date counts from the server's own clock if that is given, so that
/// a wrong clock on either side does no harm.
fn retry_after(headers: &HeaderMap, now: Timestamp) -> Option<u64> {
    let text = |name: HeaderName| headers.get(name)?.to_str().ok().map(str::trim);
    let date = |text: &str| DateTimeParser::new().parse_timestamp(text).ok();
    let wanted = text(RETRY_AFTER)?;
    if !wanted.is_empty() && wanted.bytes().all(|b| b.is_ascii_digit()) {
        return Some(wanted.parse().unwrap_or(u64::MAX));
    }
    let until = date(wanted)?;
    let from = text(DATE).and_then(date).unwrap_or(now);
    u64::try_from(until.as_second().saturating_sub(from.as_second())).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(HeaderName, &str)]) -> HeaderMap {
        pairs
            .iter()
            .map(|(name, value)| (name.clone(), HeaderValue::from_str(value).unwrap()))
            .collect()
    }

    #[test]
    fn retry_after_is_read_in_both_forms() {
        let now: Timestamp = "1994-11-06T08:49:00Z".parse().unwrap();
        let read = |pairs: &[(HeaderName, &str)]| retry_after(&headers(pairs), now);
        assert_eq!(read(&[]), None);
        assert_eq!(read(&[(RETRY_AFTER, "120")]), Some(120));
        assert_eq!(
            read(&[(RETRY_AFTER, "99999999999999999999999")]),
            Some(u64::MAX)
        );
        let date = "Sun, 06 Nov 1994 08:49:37 GMT";
        assert_eq!(read(&[(RETRY_AFTER, date)]), Some(37));
        let servers = "Sun, 06 Nov 1994 08:49:30 GMT";
        assert_eq!(read(&[(RETRY_AFTER, date), (DATE, servers)]), Some(7));
        // The past, nonsense and a signed number are ignored.
        assert_eq!(
            read(&[(RETRY_AFTER, "Sun, 06 Nov 1994 08:00:00 GMT")]),
            None
        );
        assert_eq!(read(&[(RETRY_AFTER, "soon")]), None);
        assert_eq!(read(&[(RETRY_AFTER, "-1")]), None);
        assert_eq!(read(&[(RETRY_AFTER, "")]), None);
    }

    #[test]
    fn a_token_that_no_header_can_carry_is_refused_without_showing_it() {
        let fault = bearer(Some(&Secret::new("s3c\nret"))).unwrap_err();
        assert!(fault.is_final());
        assert!(!format!("{fault} {fault:?}").contains("s3c"));
        let value = bearer(Some(&Secret::new("abc"))).unwrap().unwrap();
        assert!(value.is_sensitive());
        assert_eq!(bearer(None), Ok(None));
    }

    #[test]
    fn a_plain_client_needs_no_roots_and_is_built_once() {
        let client = SharedClient::new(Duration::from_secs(1), Tls::default());
        let url = Url::parse("http://localhost/").unwrap();
        client.get(&url).unwrap();
        assert!(client.clone().slots.plain.get().is_some());
        assert!(client.slots.secure_away.get().is_none());
    }
}
