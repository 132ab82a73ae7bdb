//! The rule for steps whose placement the experiment leaves open.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::PlacementRule;
use crate::Thousandths;

/// The rule for steps whose placement the experiment leaves open: decided when a run begins, and
/// the same for all of its targets, blocks and steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DefaultPlacement {
    /// The rule.
    pub rule: PlacementRule,
    /// The reason for it.
    pub reason: DefaultReason,
}

/// The reason for a default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DefaultReason {
    /// A target's server is external, so that Prony can't bind it.
    ExternalServer,
    /// Prony may use one processor only.
    OneProcessor,
    /// The price of a wake-up was not measured on this host.
    PriceUnknown,
    /// The price of a wake-up across processors, as a multiple of that on one processor.
    Price(Thousandths),
}

impl DefaultPlacement {
    /// The price of a wake-up across processors, as a multiple of that on one processor, from which
    /// on the default is [`PlacementRule::Together`].
    pub const DEAR: Thousandths = Thousandths(1500);

    /// That of a plan with an external server: nothing is bound.
    pub const EXTERNAL: Self = Self {
        rule: PlacementRule::Free,
        reason: DefaultReason::ExternalServer,
    };

    /// Decides from the number of processors that Prony may use and from the price of a wake-up
    /// across processors, as a multiple of that on one processor; `None` if it is unknown.
    pub fn decide(processors: usize, price: Option<f64>) -> Self {
        let reason = match price {
            _ if processors < 2 => DefaultReason::OneProcessor,
            Some(price) if price.is_finite() && price >= 0.0 => {
                DefaultReason::Price(rounded(price))
            }
            _ => DefaultReason::PriceUnknown,
        };
        let rule = match reason {
            DefaultReason::ExternalServer | DefaultReason::OneProcessor => PlacementRule::Free,
            DefaultReason::Price(price) if price < Self::DEAR => PlacementRule::Free,
            DefaultReason::Price(_) | DefaultReason::PriceUnknown => PlacementRule::Together,
        };
        Self { rule, reason }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the price is not negative, and a conversion from f64 saturates"
)]
fn rounded(price: f64) -> Thousandths {
    Thousandths((price * 1000.0).round() as u32)
}

impl fmt::Display for DefaultReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ExternalServer => f.write_str("Prony can't bind the server of every target"),
            Self::OneProcessor => f.write_str("there is one processor only"),
            Self::PriceUnknown => {
                f.write_str("the price of a wake-up was not measured on this host")
            }
            Self::Price(price) => write!(
                f,
                "a wake-up across processors costs {:.1} times as much as on one",
                price.as_f64()
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_follows_processors_and_price() {
        use DefaultReason::{OneProcessor, Price, PriceUnknown};
        use PlacementRule::{Free, Together};
        for (processors, price, rule, reason) in [
            (1, Some(9.0), Free, OneProcessor),
            (1, None, Free, OneProcessor),
            (2, None, Together, PriceUnknown),
            (2, Some(f64::NAN), Together, PriceUnknown),
            (2, Some(f64::INFINITY), Together, PriceUnknown),
            (2, Some(1.499), Free, Price(Thousandths(1499))),
            (2, Some(1.5), Together, Price(Thousandths(1500))),
            (64, Some(3.1), Together, Price(Thousandths(3100))),
        ] {
            let decided = DefaultPlacement::decide(processors, price);
            assert_eq!(
                decided,
                DefaultPlacement { rule, reason },
                "{processors}, {price:?}"
            );
        }
    }

    #[test]
    fn it_is_written_with_its_reason() {
        let decided = DefaultPlacement::decide(2, Some(3.1));
        let json = r#"{"rule":"together","reason":{"price":3100}}"#;
        assert_eq!(serde_json::to_string(&decided).unwrap(), json);
        assert_eq!(
            serde_json::from_str::<DefaultPlacement>(json).unwrap(),
            decided
        );
        assert_eq!(
            decided.reason.to_string(),
            "a wake-up across processors costs 3.1 times as much as on one"
        );
    }
}
