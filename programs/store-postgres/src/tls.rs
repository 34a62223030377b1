//! TLS by rustls, verified as libpq's `sslmode` says.

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use sys::{input, trust};
use tokio_postgres_rustls::MakeRustlsConnect;

/// Largest file of certificates: all roots of a system are 250 KiB.
const MAX_BYTES: u64 = 16 << 20;

/// What is verified of the server's certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verify {
    /// Nothing: the connection is encrypted, to whatever answers.
    Nothing,
    /// That it is of the root certificate.
    Chain,
    /// And that it is the host's.
    ChainAndName,
}

/// A connector that trusts a root certificate and shows a client's certificate.
pub(crate) fn connector(
    root: Option<&Path>,
    client: Option<(PathBuf, PathBuf)>,
    verify: Verify,
) -> Result<MakeRustlsConnect, String> {
    let provider = Arc::new(ring::default_provider());
    let chain = root.map(|root| chain(root, &provider)).transpose()?;
    let verifier = Arc::new(Verifier { chain, verify, provider: Arc::clone(&provider) });
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|e| e.to_string())?
        .dangerous()
        .with_custom_certificate_verifier(verifier);
    let mut config = match client {
        None => builder.with_no_client_auth(),
        Some((cert, key)) => {
            let private = PrivateKeyDer::from_pem_slice(&read_trusted(&key)?);
            let private = private.map_err(|e| format!("{}: {e}", key.display()))?;
            let with = builder.with_client_auth_cert(certificates(&cert)?, private);
            with.map_err(|e| format!("{}: {e}", cert.display()))?
        }
    };
    config.alpn_protocols = vec![b"postgresql".to_vec()];
    Ok(MakeRustlsConnect::new(config))
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let bytes = read_trusted(path)?;
    let all: Result<_, _> = CertificateDer::pem_slice_iter(&bytes).collect();
    all.map_err(|e| format!("{}: {e}", path.display()))
}

/// A file that decides who is trusted, which no other user may change.
fn read_trusted(path: &Path) -> Result<Vec<u8>, String> {
    let read = trust::open_trusted(path).and_then(|input| input::read_open(input, MAX_BYTES));
    read.map_err(|e| format!("can't read {}: {e}", path.display()))
}

fn chain(root: &Path, provider: &Arc<CryptoProvider>) -> Result<Arc<WebPkiServerVerifier>, String> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(root)? {
        roots.add(certificate).map_err(|e| format!("{}: {e}", root.display()))?;
    }
    WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider))
        .build()
        .map_err(|e| format!("{}: {e}", root.display()))
}

#[derive(Debug)]
struct Verifier {
    chain: Option<Arc<WebPkiServerVerifier>>,
    verify: Verify,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let verified = match (&self.chain, self.verify) {
            (_, Verify::Nothing) => return Ok(ServerCertVerified::assertion()),
            (None, _) => return Err(CertificateError::UnknownIssuer.into()),
            (Some(chain), _) => {
                chain.verify_server_cert(end_entity, intermediates, name, ocsp, now)
            }
        };
        match verified {
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if self.verify == Verify::Chain => Ok(ServerCertVerified::assertion()),
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let known = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, cert, signed, known)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let known = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, cert, signed, known)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
