//! `prony calibrate`: what the load generator itself can do here.

use prony_lab::{
    CalibrationError, CalibrationEvent, CalibrationPoints, Calibrator, available_backends,
};
use prony_load::choose_backend;
use prony_model::{Backend, CalibrationCounts, Family, HostUse, WakeUpPrice, WakeUps};
use prony_report::{calibration_json, calibration_text};

use crate::cli::{CalibrateArgs, ListFormatArg};
use crate::failure::{ExitStatus, Failure};
use crate::output;
use crate::signals::Signals;
use crate::surroundings::Surroundings;
use crate::words::{duration, plural, rate};

/// Measures, keeps the result in the cache and prints it.
pub(crate) fn calibrate(args: &CalibrateArgs, signals: &Signals) -> Result<(), Failure> {
    let points = points(args)?;
    let surroundings = Surroundings::find()?;
    output::talk(&format!(
        "calibrating the load generator: about {}",
        duration(points.predicted_ms())
    ));
    let calibrator = Calibrator {
        roots: &surroundings.roots,
        launcher: &surroundings.launcher,
        prony: &surroundings.prony,
        proc: &surroundings.proc,
        stop: &signals.stop,
    };
    if !calibrator.keeps(&points) {
        output::notice(&format!(
            "the result will not be stored: that requires all default backends and clients, each \
             for {}",
            duration(CalibrationPoints::TIME_MS)
        ));
    }
    let calibration = calibrator
        .calibrate(&points, &mut |event| output::talk(&line(event)))
        .map_err(|error| failure(&error))?;
    let Some(calibration) = calibration else {
        return Err(Failure::interrupted(
            signals,
            "interrupted; nothing was stored",
        ));
    };
    if calibration.is_disturbed() {
        output::notice(
            "this calibration was disturbed: end other programs, then run `prony calibrate` again; \
             until then `prony run` measures the disturbed points again when the machine is quiet",
        );
    }
    let text = match args.format {
        ListFormatArg::Text => calibration_text(&calibration),
        ListFormatArg::Json => calibration_json(&calibration),
    };
    let text = text.map_err(Failure::defect)?;
    output::data(&text)
}

fn points(args: &CalibrateArgs) -> Result<CalibrationPoints, Failure> {
    let backends = match args.backend {
        None => available_backends(),
        Some(backend) => {
            choose_backend(Some(backend), false).map_err(Failure::host)?;
            vec![backend]
        }
    };
    Ok(CalibrationPoints {
        backends,
        clients: args.clients.clone(),
        ..CalibrationPoints::usual(args.time)
    })
}

/// One point in one line.
fn line(event: CalibrationEvent<'_>) -> String {
    match event {
        CalibrationEvent::WakeUps(wake_ups) => wake_ups_line(wake_ups),
        CalibrationEvent::Again {
            backend,
            clients,
            host,
        } => format!(
            "  {}: {}; measuring again",
            name(backend, clients),
            disturbance(host)
        ),
        CalibrationEvent::Closed(point) => {
            let done = of(point.backend, point.clients, &point.counts);
            let protocol = match point.family {
                Family::Mysql | Family::Mariadb => "",
                Family::Postgresql => " in the protocol of PostgreSQL",
            };
            format!("{done}{protocol}{}", doubt(point.host))
        }
        CalibrationEvent::Noise(point) => format!(
            "  noise of this machine, {}: {}{}",
            name(point.backend, point.clients),
            plural(point.windows.len() as u64, "window"),
            doubt(point.host)
        ),
        CalibrationEvent::NoPrice { counters, reason } => {
            format!("  {} counters: cost unknown: {reason}", counters.name())
        }
        CalibrationEvent::Looking(price) => {
            let lost = price.loss().map_or_else(
                || "not known".to_owned(),
                |loss| format!("{:.1} %", loss.mean * 100.0),
            );
            format!(
                "  {} counters, {}: {lost} of the throughput",
                price.counters.name(),
                plural(price.clients.into(), "client")
            )
        }
        CalibrationEvent::Open(point) => {
            let done = of(point.backend, point.clients, &point.counts);
            let left = match point.left() {
                0 => String::new(),
                left => format!(
                    "; {} of {} planned operations never began",
                    rate(left as f64),
                    rate(point.planned as f64)
                ),
            };
            format!("{done} by schedule{left}{}", doubt(point.host))
        }
    }
}

fn of(backend: Backend, clients: u32, counts: &CalibrationCounts) -> String {
    let done = counts.queries_per_second().map_or_else(
        || "nothing done".to_owned(),
        |done| format!("{} queries/s", rate(done)),
    );
    format!("  {}: {done}", name(backend, clients))
}

fn name(backend: Backend, clients: u32) -> String {
    format!("{backend}, {}", plural(clients.into(), "client"))
}

/// The price of wake-ups in one line.
fn wake_ups_line(wake_ups: &WakeUps) -> String {
    let us = |price: Option<WakeUpPrice>| {
        price.map_or_else(
            || "unknown".to_owned(),
            |price| format!("{:.1} µs", price.wall_ns / 1e3),
        )
    };
    let one = us(wake_ups.on_one());
    match wake_ups.across_two() {
        None => format!("  wake-up and answer: {one}; Prony may use one processor only"),
        across => format!(
            "  wake-up and answer: {one} on one processor, {} across two, {} left to the kernel",
            us(across),
            us(wake_ups.left_free())
        ),
    }
}

/// The disturbance of a point that is kept nevertheless; empty if there was none.
fn doubt(host: Option<HostUse>) -> String {
    match host.filter(HostUse::is_disturbed) {
        Some(host) => format!(" (disturbed: {})", disturbance(&host)),
        None => String::new(),
    }
}

fn disturbance(host: &HostUse) -> String {
    let Some(taken) = host.taken() else {
        return "use of the processors unknown".to_owned();
    };
    let percent = |share: f64| format!("{:.0} %", share * 100.0);
    let hypervisor = match percent(taken.hypervisor) {
        none if none == "0 %" => String::new(),
        some => format!(", the hypervisor {some}"),
    };
    let others = percent(taken.others);
    format!("other programs took {others} of the processors{hypervisor}")
}

fn failure(error: &CalibrationError) -> Failure {
    let code = match error {
        CalibrationError::Workload { .. } => ExitStatus::Defect,
        CalibrationError::NullServer { .. }
        | CalibrationError::Program { .. }
        | CalibrationError::Generator(_)
        | CalibrationError::Drive { .. }
        | CalibrationError::WakeUps(_)
        | CalibrationError::Keep(_) => ExitStatus::Host,
    };
    Failure::to(code, error)
}

#[cfg(test)]
mod tests {
    use prony_model::{OpenPoint, Spacing, Thousandths};

    use super::*;

    #[test]
    fn what_was_never_begun_is_said() {
        let mut point = OpenPoint {
            backend: Backend::Epoll,
            clients: 8,
            threads: 2,
            cpus: None,
            host: None,
            rate: Thousandths(10_000_000),
            spacing: Spacing::Regular,
            counts: CalibrationCounts {
                queries: 20_000,
                wall_ns: 2_000_000_000,
                client_user_ns: 1,
                client_system_ns: 1,
                server_ns: 1,
            },
            planned: 20_000,
            error: Vec::new(),
        };
        let kept_up = line(CalibrationEvent::Open(&point));
        assert_eq!(kept_up, "  epoll, 8 clients: 10,000 queries/s by schedule");
        point.counts.queries -= 1_500;
        let overloaded = line(CalibrationEvent::Open(&point));
        let said = "; 1,500 of 20,000 planned operations never began";
        assert!(overloaded.ends_with(said), "{overloaded}");
        point.host = Some(HostUse {
            processors: 2,
            wall_ns: 2_000_000_000,
            idle_ns: 1_000_000_000,
            interrupt_ns: 0,
            steal_ns: 80_000_000,
            own_ns: 2_400_000_000,
        });
        let disturbed = line(CalibrationEvent::Open(&point));
        let said = " (disturbed: other programs took 13 % of the processors, the hypervisor 2 %)";
        assert!(disturbed.ends_with(said), "{disturbed}");
    }
}
