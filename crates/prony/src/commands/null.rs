//! `prony null`: the null server.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use prony_model::Address;
use prony_null::NullServer;

use crate::cli::NullArgs;
use crate::failure::Failure;
use crate::output;
use crate::signals::Signals;

/// Serves until a signal comes.
pub(crate) fn null(args: &NullArgs, signals: &Signals) -> Result<(), Failure> {
    let place = match (&args.socket, args.port) {
        (Some(path), _) => Address::Unix(path.clone()),
        (None, port) => Address::Tcp(SocketAddr::from((
            Ipv4Addr::LOCALHOST,
            port.unwrap_or_default(),
        ))),
    };
    let service = Duration::from_micros(args.service_us);
    let mut server = NullServer::bind(place, args.family, service).map_err(Failure::host)?;
    output::data("ready\n")?;
    server
        .serve(&|| signals.stop.requested())
        .map_err(Failure::host)
}
