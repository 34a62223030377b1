//! Names of settings, as libpq has them.

/// Variables of libpq with the settings that they are.
pub(super) const VARIABLES: &[(&str, &str)] = &[
    ("PGHOST", "host"),
    ("PGHOSTADDR", "hostaddr"),
    ("PGPORT", "port"),
    ("PGDATABASE", "dbname"),
    ("PGUSER", "user"),
    ("PGPASSWORD", "password"),
    ("PGPASSFILE", "passfile"),
    ("PGOPTIONS", "options"),
    ("PGAPPNAME", "application_name"),
    ("PGSSLMODE", "sslmode"),
    ("PGSSLROOTCERT", "sslrootcert"),
    ("PGSSLCERT", "sslcert"),
    ("PGSSLKEY", "sslkey"),
    ("PGSSLNEGOTIATION", "sslnegotiation"),
    ("PGCHANNELBINDING", "channel_binding"),
    ("PGCONNECT_TIMEOUT", "connect_timeout"),
    ("PGTARGETSESSIONATTRS", "target_session_attrs"),
    ("PGLOADBALANCEHOSTS", "load_balance_hosts"),
];

/// Variables of libpq that ask for a safer connection and are not supported. They are refused: ignored, they
/// would leave the connection less safe than was asked for.
pub(super) const REFUSED: [&str; 7] = [
    "PGREQUIREAUTH",
    "PGREQUIREPEER",
    "PGREQUIRESSL",
    "PGSSLCRL",
    "PGSSLCRLDIR",
    "PGSSLMINPROTOCOLVERSION",
    "PGSSLMAXPROTOCOLVERSION",
];

/// Settings that are used where none are given: a server that is gone must not hang a command.
pub(super) const DEFAULTS: &[(&str, &str)] = &[
    ("application_name", "latlas"),
    ("connect_timeout", "10"),
    ("tcp_user_timeout", "30"),
    ("keepalives_idle", "30"),
    ("port", "5432"),
    ("sslmode", "prefer"),
];

/// Settings of libpq that make no difference here.
pub(super) const IGNORED: &[&str] = &[
    "client_encoding",
    "fallback_application_name",
    "gssencmode",
    "gsslib",
    "krbsrvname",
    "service",
    "sslcompression",
    "sslsni",
];

/// Where Unix-domain sockets lie by default: Debian and Red Hat, PostgreSQL itself.
pub(super) const SOCKETS: [&str; 2] = ["/var/run/postgresql", "/tmp"];
