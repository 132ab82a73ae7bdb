//! The arguments of `prony calibrate`.

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use prony_lab::CalibrationPoints;
use prony_model::Backend;

use super::ListFormatArg;
use super::load::positive;

pub(crate) const EXPLANATION: &str = "\
The load generator sends a prepared point query over a unix socket to the null server, a part of
Prony that answers at once and does nothing. The result is the generator's ceiling: if a server
delivers nearly as many queries per second, the generator may be the limit. The last point of each
backend sends 10,000 queries per second by schedule, and shows their lateness.

The price of a wake-up across processors decides how runs place server and generator by default. The
noise of this machine, in windows of a quarter of a second, lets `prony plan` expect the accuracy of
ratios. Points that other programs disturb are measured again, three times at most, and marked if
that does not help.

With the default backends, clients and time, or more, the result is stored in the cache and with
every run of this program on this machine; other results are only printed.";

#[derive(Debug, Args)]
pub(crate) struct CalibrateArgs {
    /// Kernel interface for the connections [default: each that this machine has]
    #[arg(long, value_parser = backend())]
    pub(crate) backend: Option<Backend>,
    /// Numbers of connections
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..),
        default_values_t = CalibrationPoints::CLIENTS)]
    pub(crate) clients: Vec<u32>,
    /// Measured time for each number of connections, such as 10s
    #[arg(long, default_value = "2s", value_parser = positive)]
    pub(crate) time: u64,
    /// Output format
    #[arg(long, value_enum, default_value_t = ListFormatArg::Text)]
    pub(crate) format: ListFormatArg,
}

/// Takes the names of backends.
fn backend() -> impl TypedValueParser<Value = Backend> {
    let known = [Backend::Epoll, Backend::IoUring];
    PossibleValuesParser::new(known.map(Backend::name)).try_map(move |name| {
        let mut known = known.into_iter();
        known
            .find(|backend| backend.name() == name)
            .ok_or("no such backend")
    })
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Alone {
        #[command(flatten)]
        args: CalibrateArgs,
    }

    #[test]
    fn what_is_usual_is_what_is_done_by_itself() {
        let Alone { args } = Alone::parse_from(["calibrate"]);
        assert_eq!(args.time, CalibrationPoints::TIME_MS);
        assert_eq!(args.clients, CalibrationPoints::CLIENTS);
        assert_eq!(args.backend, None);
    }
}
