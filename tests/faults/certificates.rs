//! Servers whose certificate proves nothing: what the person hears, and that nothing is sent to them.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair, date_time_ymd};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use super::fault_server::{EventLog, STREAM};
use crate::support::child::Hearken;

/// Serves one event to any client that trusts the certificate; counts the requests that it could
/// read.
fn serve(name: &str, last_year: i32) -> (String, String, Arc<AtomicUsize>) {
    let mut params = CertificateParams::new(Vec::<String>::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
    params.not_before = date_time_ymd(2020, 1, 1);
    params.not_after = date_time_ymd(last_year, 1, 1);
    let key = KeyPair::generate().unwrap();
    let certificate = params.signed_by(&key, &authority).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let private = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], private)
        .unwrap();
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!(
        "https://localhost:{}",
        listener.local_addr().unwrap().port()
    );
    let requests = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&requests);
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
            let mut stream = StreamOwned::new(connection, stream);
            let mut request = [0; 4096];
            if stream.read(&mut request).is_ok_and(|count| count > 0) {
                counted.fetch_add(1, Ordering::SeqCst);
                let _ = stream.write_all(STREAM.as_bytes());
                let _ = stream.write_all(EventLog::new().sse(1).as_bytes());
                let _ = stream.flush();
                // The connection stays open until the subscriber leaves.
                let _ = stream.read(&mut request);
            }
        }
    });
    (url, authority.pem(), requests)
}

fn watch(url: &str, authority: &str, folder: &tempfile::TempDir, more: &[&str]) -> Hearken {
    let ca = folder.path().join("ca.pem");
    std::fs::write(&ca, authority).unwrap();
    let token = folder.path().join("token");
    std::fs::write(&token, "s3cret").unwrap();
    let (ca, token) = (ca.to_str().unwrap(), token.to_str().unwrap());
    let mut arguments = vec!["watch", url, "--face", "json", "--voice", "none"];
    arguments.extend(["--ca", ca, "--token-file", token]);
    arguments.extend(more);
    Hearken::start(&arguments)
}

#[test]
fn a_certificate_that_proves_nothing_ends_the_link_in_words_and_gets_no_request() {
    for (name, last_year, words) in [
        (
            "elsewhere.example",
            4000,
            "the certificate is for another name",
        ),
        ("localhost", 2021, "the certificate has expired"),
    ] {
        for more in [&["--plain-pair"][..], &[]] {
            let (url, authority, requests) = serve(name, last_year);
            let folder = tempfile::tempdir().unwrap();
            let (code, errors, lines) = watch(&url, &authority, &folder, more).exit();
            assert_eq!((code, errors.as_str()), (1, ""), "{lines:?}");
            let told =
                format!("{url}/events can't be used: there is no secure connection: {words}.");
            let count = lines.iter().filter(|line| line.contains(&told)).count();
            assert_eq!(count, 1, "{told}: {lines:?}");
            assert_eq!(requests.load(Ordering::SeqCst), 0, "{words}");
        }
    }
}

#[test]
fn a_good_certificate_of_the_same_authority_is_followed() {
    let (url, authority, requests) = serve("localhost", 4000);
    let folder = tempfile::tempdir().unwrap();
    let mut child = watch(&url, &authority, &folder, &["--plain-pair"]);
    child.announced("session_started", "Planner is here.");
    assert_eq!(requests.load(Ordering::SeqCst), 1);
}
