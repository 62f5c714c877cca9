//! The certificates that a secure connection trusts, and the one that it presents.
//!
//! Responsibilities: reading certificates and a key of the person's own, one TLS configuration for
//! HTTP and for every other secured transport. Not here: the words for a failed handshake
//! (`http_client`), whether a connection must be secure (`network_address`).
//!
//! Connections trust what the system trusts (rustls-platform-verifier: the certificate folders on
//! Linux, the keychain on macOS, the store on Windows) plus the certificates of `--ca`; nothing is
//! bundled, and no check can be switched off.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::ClientConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls_platform_verifier::Verifier;

use crate::config::LinkConfig;
use crate::link::{Fault, NoTls};
use crate::platform::files::open_to_read;

/// The largest certificate file that is read, in bytes: the bundle of a whole system is smaller.
const LARGEST: u64 = 4 * 1024 * 1024;

/// Why certificates or a key can't be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TlsError {
    /// A file can't be read.
    #[error("{path} can't be read: {kind}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The kind of error.
        kind: std::io::ErrorKind,
    },
    /// A file exceeds the size limit.
    #[error("{path} is larger than {limit} bytes")]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The limit, in bytes.
        limit: u64,
    },
    /// A file contains no certificate.
    #[error("{path} holds no certificate in PEM form")]
    NoCertificate {
        /// The file.
        path: PathBuf,
    },
    /// A file contains no private key.
    #[error("{path} holds no unencrypted private key in PEM form")]
    NoKey {
        /// The file.
        path: PathBuf,
    },
    /// A certificate without its key, or a key without its certificate.
    #[error("a client certificate and its key go together: give both")]
    Half,
    /// The key does not belong to the certificate.
    #[error("the client key in {key} does not belong to the certificate in {certificate}")]
    Mismatch {
        /// The certificate's file.
        certificate: PathBuf,
        /// The key's file.
        key: PathBuf,
    },
    /// A certificate can't be parsed.
    #[error("a certificate in {path} can't be used")]
    BadCertificate {
        /// The file.
        path: PathBuf,
    },
}

/// The person's own certificates and key for secure connections; its debug form shows no key.
#[derive(Clone, Default)]
pub struct Tls {
    roots: Vec<CertificateDer<'static>>,
    client: Option<Arc<TlsClient>>,
}

struct TlsClient {
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
}

impl std::fmt::Debug for Tls {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Tls")
            .field("roots", &self.roots.len())
            .field("client", &self.client.is_some())
            .finish()
    }
}

impl Tls {
    /// Reads the certificates and the key that the settings name; blocks while reading.
    ///
    /// # Errors
    /// See [`TlsError`]; none of its variants shows the content of a file.
    pub fn load(config: &LinkConfig) -> Result<Self, TlsError> {
        let roots = match &config.ca {
            Some(path) => certificates(path)?,
            None => Vec::new(),
        };
        let client = match (&config.client_cert, &config.client_key) {
            (None, None) => None,
            (Some(certificate), Some(key)) => Some(client(certificate, key)?),
            (Some(_), None) | (None, Some(_)) => return Err(TlsError::Half),
        };
        let tls = Self {
            roots,
            client: client.map(Arc::new),
        };
        // The system's own certificates (some hundred files) are read only when a connection is secured, or to test the
        // person's certificates with them: most sources are on this machine.
        if let Some(path) = &config.ca
            && verifier(tls.roots.clone()).is_err()
        {
            return Err(TlsError::BadCertificate { path: path.clone() });
        }
        Ok(tls)
    }

    /// Builds the configuration of secure connections that speak one of `protocols` (ALPN).
    ///
    /// # Errors
    /// [`Fault::Tls`] if no certificate at all is trusted here.
    pub fn client_config(&self, protocols: &[&[u8]]) -> Result<ClientConfig, Fault> {
        let verifier = verifier(self.roots.clone()).map_err(|_| Fault::Tls(NoTls::NoRoots))?;
        let broken = |_| Fault::Tls(NoTls::NoSetup);
        let builder = ClientConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()
            .map_err(broken)?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier));
        let mut config = match &self.client {
            Some(client) => builder
                .with_client_auth_cert(client.chain.clone(), client.key.clone_key())
                .map_err(broken)?,
            None => builder.with_no_client_auth(),
        };
        config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
        Ok(config)
    }
}

fn provider() -> Arc<rustls::crypto::CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

fn verifier(roots: Vec<CertificateDer<'static>>) -> Result<Verifier, rustls::Error> {
    Verifier::new_with_extra_roots(roots, provider())
}

fn client(certificate: &Path, key: &Path) -> Result<TlsClient, TlsError> {
    let chain = certificates(certificate)?;
    let pem = read(key)?;
    let private = PrivateKeyDer::from_pem_slice(&pem).map_err(|_| TlsError::NoKey {
        path: key.to_owned(),
    })?;
    let client = TlsClient {
        chain,
        key: private,
    };
    // Checked now rather than at the first connection.
    let fits = ClientConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .is_ok_and(|builder| {
            builder
                .with_root_certificates(rustls::RootCertStore::empty())
                .with_client_auth_cert(client.chain.clone(), client.key.clone_key())
                .is_ok()
        });
    if fits {
        Ok(client)
    } else {
        Err(TlsError::Mismatch {
            certificate: certificate.to_owned(),
            key: key.to_owned(),
        })
    }
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let pem = read(path)?;
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&pem).collect();
    match found {
        Ok(found) if !found.is_empty() => Ok(found),
        Ok(_) | Err(_) => Err(TlsError::NoCertificate {
            path: path.to_owned(),
        }),
    }
}

fn read(path: &Path) -> Result<Vec<u8>, TlsError> {
    let failed = |error: std::io::Error| TlsError::Unreadable {
        path: path.to_owned(),
        kind: error.kind(),
    };
    let size = std::fs::metadata(path).map_err(failed)?.len();
    if size > LARGEST {
        return Err(TlsError::TooLarge {
            path: path.to_owned(),
            limit: LARGEST,
        });
    }
    let mut bytes = Vec::new();
    open_to_read(path)
        .and_then(|mut file| file.read_to_end(&mut bytes))
        .map_err(failed)?;
    Ok(bytes)
}

#[cfg(test)]
#[path = "tests/tls.rs"]
mod tests;
