use std::io::Write;
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair, date_time_ymd};
use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::WebPkiClientVerifier;
use tempfile::NamedTempFile;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use super::super::tests::{Listener, STREAM, connecting, frame, quick, soon};
use super::*;
use crate::link::{Fault, LinkEvent, NoTls};

/// An authority whose certificates are trusted only in tests.
struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
}

/// A certificate with its key.
struct Certified {
    pem: String,
    der: CertificateDer<'static>,
    key: KeyPair,
}

impl Authority {
    fn new() -> Self {
        Self::called("hearken test authority")
    }

    fn called(name: &str) -> Self {
        let mut params = CertificateParams::new(Vec::<String>::new()).unwrap();
        params.distinguished_name = rcgen::DistinguishedName::new();
        params
            .distinguished_name
            .push(rcgen::DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let issuer = CertifiedIssuer::self_signed(params, key).unwrap();
        Self { issuer }
    }

    fn certify(&self, name: &str, last_year: i32) -> Certified {
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        params.not_before = date_time_ymd(2020, 1, 1);
        params.not_after = date_time_ymd(last_year, 1, 1);
        let key = KeyPair::generate().unwrap();
        let made = params.signed_by(&key, &self.issuer).unwrap();
        Certified {
            pem: made.pem(),
            der: made.der().clone(),
            key,
        }
    }
}

fn file(text: &str) -> NamedTempFile {
    let mut file = NamedTempFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    file
}

fn private(key: &KeyPair) -> PrivateKeyDer<'static> {
    PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()))
}

/// Serves one event to every client; requires a client certificate if an authority is given.
async fn serve(certified: &Certified, clients: Option<&Authority>) -> String {
    let provider = provider();
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .unwrap();
    let builder = match clients {
        Some(authority) => {
            let mut roots = rustls::RootCertStore::empty();
            roots.add(authority.issuer.der().clone()).unwrap();
            builder.with_client_cert_verifier(
                WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider)
                    .build()
                    .unwrap(),
            )
        }
        None => builder.with_no_client_auth(),
    };
    let config = builder
        .with_single_cert(vec![certified.der.clone()], private(&certified.key))
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!(
        "https://localhost:{}",
        listener.local_addr().unwrap().port()
    );
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                let Ok(mut stream) = acceptor.accept(stream).await else {
                    return;
                };
                let mut request = [0; 4096];
                if stream.read(&mut request).await.is_ok_and(|count| count > 0) {
                    let _ = stream.write_all(STREAM.as_bytes()).await;
                    let _ = stream.write_all(b"data: {\"a\":1}\n\n").await;
                    let _ = stream.flush().await;
                    // The stream lasts until the client leaves.
                    while stream.read(&mut request).await.is_ok_and(|count| count > 0) {}
                }
            });
        }
    });
    address
}

fn trusting(authority: &Authority) -> (NamedTempFile, LinkConfig) {
    let ca = file(&authority.issuer.pem());
    let config = LinkConfig {
        ca: Some(ca.path().to_owned()),
        ..quick()
    };
    (ca, config)
}

async fn fault(address: &str, config: LinkConfig) -> Fault {
    let mut listener = Listener::open(address, config);
    loop {
        match listener.next().await {
            LinkEvent::Failed { fault } => return fault,
            LinkEvent::Connecting { .. } => {}
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn a_certificate_of_our_own_authority_is_trusted_and_no_other() {
    let ours = Authority::new();
    let address = serve(&ours.certify("localhost", 2100), None).await;
    let (_file, config) = trusting(&ours);
    let mut listener = Listener::open(&address, config);
    listener
        .expect(&[connecting(1), LinkEvent::Connected, frame("{\"a\":1}")])
        .await;
    // Neither an authority with another name nor one with the same name.
    for theirs in [Authority::called("somebody else"), Authority::new()] {
        let (_file, config) = trusting(&theirs);
        let why = fault(&address, config).await;
        assert_eq!(why, Fault::Tls(NoTls::Issuer));
    }
}

#[tokio::test]
async fn what_is_wrong_with_a_certificate_is_said_in_words() {
    let ours = Authority::new();
    for (name, last_year, why) in [
        ("other.example", 2100, NoTls::OtherName),
        ("localhost", 2021, NoTls::Expired),
    ] {
        let address = serve(&ours.certify(name, last_year), None).await;
        let (_file, config) = trusting(&ours);
        let told = fault(&address, config).await;
        assert!(told.is_final());
        // Nothing from the server's certificate is ever repeated: the reason is in our own words.
        assert_eq!(told, Fault::Tls(why));
    }
}

#[tokio::test]
async fn a_server_without_tls_is_named_as_such() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!(
        "https://localhost:{}",
        listener.local_addr().unwrap().port()
    );
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
        }
    });
    let ours = Authority::new();
    let (_file, config) = trusting(&ours);
    let why = fault(&address, config).await;
    assert_eq!(why, Fault::Tls(NoTls::SomethingElse));
}

#[tokio::test]
async fn a_server_that_asks_who_we_are_gets_our_certificate() {
    let ours = Authority::new();
    let me = ours.certify("me.example", 2100);
    let (certificate, key) = (file(&me.pem), file(&me.key.serialize_pem()));
    let address = serve(&ours.certify("localhost", 2100), Some(&ours)).await;
    let (_file, config) = trusting(&ours);
    let with = LinkConfig {
        client_cert: Some(certificate.path().to_owned()),
        client_key: Some(key.path().to_owned()),
        ..config.clone()
    };
    let mut listener = Listener::open(&address, with);
    listener
        .expect(&[connecting(1), LinkEvent::Connected, frame("{\"a\":1}")])
        .await;
    // Without one the server refuses, and the person hears so immediately.
    let why = soon(fault(&address, config)).await;
    assert_eq!(why, Fault::Tls(NoTls::Refused));
}

#[test]
fn files_that_cannot_be_used_are_refused_in_words() {
    let ours = Authority::new();
    let (me, other) = (ours.certify("me", 2100), ours.certify("other", 2100));
    let (certificate, key) = (file(&me.pem), file(&me.key.serialize_pem()));
    let (strange, nonsense) = (file(&other.key.serialize_pem()), file("nonsense"));
    let garbled = file("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
    let path = |file: &NamedTempFile| Some(file.path().to_owned());
    let load = |ca, client_cert, client_key| {
        Tls::load(&LinkConfig {
            ca,
            client_cert,
            client_key,
            ..LinkConfig::default()
        })
    };
    load(None, path(&certificate), path(&key)).unwrap();
    for (tls, words) in [
        (load(path(&nonsense), None, None), "holds no certificate"),
        (load(path(&garbled), None, None), "can't be used"),
        (
            load(Some("/not/there.pem".into()), None, None),
            "can't be read",
        ),
        (load(None, path(&certificate), None), "give both"),
        (load(None, None, path(&key)), "give both"),
        (
            load(None, path(&certificate), path(&certificate)),
            "holds no unencrypted private key",
        ),
        (
            load(None, path(&certificate), path(&strange)),
            "does not belong",
        ),
    ] {
        let error = tls.unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
    let tls = load(None, path(&certificate), path(&key)).unwrap();
    let shown = format!("{tls:?}");
    assert!(shown.len() < 60, "{shown}");
}
