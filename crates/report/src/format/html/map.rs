//! The map of all cells as a table, whose cells lead to their details.

use maud::{Markup, html};
use prony_model::RatioDisplay;

use super::blocks::{figure, mark};
use super::palette;
use crate::page::web::TargetKey;
use crate::page::web::map::{HeatMap, MapCell, MapFigure, MapRow, SIGNS};

/// The figure that a map shows, chosen by the reader without JavaScript.
#[derive(Clone, Copy, PartialEq)]
enum Mode {
    Ratio,
    Absolute,
    Cost,
}

impl Mode {
    const fn id(self) -> &'static str {
        match self {
            Self::Ratio => "rel",
            Self::Absolute => "abs",
            Self::Cost => "cost",
        }
    }

    const fn words(self, display: Option<RatioDisplay>) -> &'static str {
        match self {
            Self::Ratio => match display {
                Some(RatioDisplay::Throughput) => "relative throughput",
                Some(RatioDisplay::Time) => "relative time of an operation",
                None => "relative throughput or time",
            },
            Self::Absolute => "throughput or time",
            Self::Cost => "processor time of an operation, ÷ base",
        }
    }
}

/// Draws the map with its legend.
pub(super) fn draw(map: &HeatMap, targets: &[TargetKey]) -> Markup {
    let modes = [
        (Mode::Ratio, map.compares),
        (Mode::Absolute, true),
        (Mode::Cost, map.has_costs),
    ];
    let modes = modes.into_iter().filter(|(_, is_known)| *is_known);
    let modes: Vec<Mode> = modes.map(|(mode, _)| mode).collect();
    html! {
        section #heat aria-labelledby="map" {
            h2 id="map" { "All cells" }
            @if map.compares {
                p { "Steps as rows, targets as columns. " (meaning(map.display))
                    " Each cell leads to its details." }
            }
            @if modes.len() > 1 {
                fieldset.choice {
                    legend { "Figures" }
                    @for (index, mode) in modes.iter().enumerate() {
                        label {
                            input type="radio" name="mode" id={ "mode-" (mode.id()) }
                                checked[index == 0];
                            " " (mode.words(map.display))
                        }
                    }
                }
            }
            div #controls hidden {}
            div.scroll tabindex="0" role="group" aria-label="All cells" {
                table.map {
                    caption.vh { "Figures of all steps and targets" }
                    thead { tr {
                        th scope="col" { "step" } th scope="col" { "clients" }
                        @for &column in &map.columns { (heading(&targets[column])) }
                    } }
                    tbody { @for row in &map.rows { (self::row(row, &modes, map)) } }
                }
            }
            (legend(map))
        }
    }
}

/// The meaning of the ratios.
const fn meaning(display: Option<RatioDisplay>) -> &'static str {
    match display {
        Some(RatioDisplay::Throughput) => {
            "Relative throughput is operations per second ÷ those of the base in the same block: above \
             1 is faster."
        }
        Some(RatioDisplay::Time) => {
            "Relative time is the mean time of an operation ÷ that of the base in the same block: above \
             1 is slower."
        }
        None => {
            "Relative throughput is operations per second ÷ those of the base in the same block: above \
             1 is faster. In rows marked `time` it is the mean time of an operation ÷ that of the base: \
             above 1 is slower."
        }
    }
}

fn heading(target: &TargetKey) -> Markup {
    html! {
        th scope="col" class={ "v" (target.index) } {
            span.number { (target.index + 1) } " " bdi { (target.name) }
            @if let Some(role) = target.role { " (" (role) ")" }
        }
    }
}

fn row(row: &MapRow, modes: &[Mode], map: &HeatMap) -> Markup {
    match row {
        MapRow::Section(title) => html! {
            tr.part { th colspan=(map.columns.len() + 2) scope="rowgroup" { (title) } }
        },
        MapRow::Step {
            name,
            clients,
            unit,
            cells,
            ..
        } => html! {
            tr.step data-step=(name) data-clients=(clients) {
                th scope="row" { bdi { (name) } " " span.unit { (unit) } }
                td { (clients) }
                @for cell in cells { td { (self::cell(cell, modes)) } }
            }
        },
        MapRow::Overall { name, cells } => html! {
            @if map.compares {
                tr.overall {
                    th scope="row" { (name) } td {}
                    @for cell in cells {
                        td { @match cell {
                            Some(figure) => {
                                span class={ "fig " (palette::class(figure.goodness, figure.margin)) }
                                    title=(figure.hint) { (self::figure(&figure.text, figure.value, "")) }
                            }
                            None => {}
                        } }
                    }
                }
            }
        },
    }
}

fn cell(cell: &MapCell, modes: &[Mode]) -> Markup {
    let is_known = cell.absolute.is_some() || cell.ratio.is_some();
    html! {
        @if is_known {
            a href={ "#" (cell.anchor) } {
                span.vh { (cell.label) ": " }
                @for &mode in modes { (shown(cell, mode)) }
            }
        } @else {
            span.none { "-" span.vh { " no figure" } }
        }
    }
}

fn shown(cell: &MapCell, mode: Mode) -> Markup {
    let key = |name: &str| format!("{}.{name}", cell.anchor);
    match mode {
        Mode::Ratio => match &cell.ratio {
            Some(ratio) => {
                let name = if cell.is_time { "time_ratio" } else { "ratio" };
                ratio_shown(cell, ratio, mode, &key(name))
            }
            // The base shows what it does.
            None => absolute(cell, mode),
        },
        Mode::Absolute => absolute(cell, mode),
        Mode::Cost => {
            let cost = cell.cost.as_ref();
            let cost = cost.map(|cost| coloured(cost, mode, &key("cost"), &html! {}));
            cost.unwrap_or_else(|| html! { span.fig.cost { "-" } })
        }
    }
}

fn ratio_shown(cell: &MapCell, ratio: &MapFigure, mode: Mode, key: &str) -> Markup {
    let sign = html! {
        @if let Some(sign) = cell.sign {
            span.sign aria-hidden="true" { (sign.sign) } span.vh { " " (sign.words) }
        }
    };
    html! {
        (coloured(ratio, mode, key, &html! { (sign) @if cell.mark { (mark()) } }))
    }
}

fn coloured(of: &MapFigure, mode: Mode, key: &str, after: &Markup) -> Markup {
    let class = palette::class(of.goodness, of.margin);
    html! {
        span class={ "fig " (mode.id()) " " (class) } title=(of.hint) {
            (figure(&of.text, of.value, key)) (after)
        }
    }
}

fn absolute(cell: &MapCell, mode: Mode) -> Markup {
    html! {
        span class={ "fig " (mode.id()) } {
            @match &cell.absolute {
                Some((text, value)) => (figure(text, *value, &format!("{}.shown", cell.anchor))),
                None => "-",
            }
            @if cell.mark && (mode == Mode::Absolute || cell.ratio.is_none()) { (mark()) }
        }
    }
}

/// The classes of colour with the ratios from which they begin: those of throughput, unless all are of
/// time, which are its inverses.
const fn colours(display: Option<RatioDisplay>) -> [(&'static str, &'static str); 13] {
    match display {
        Some(RatioDisplay::Time) => [
            ("s6", "≥ 2.00"),
            ("s5", "1.54"),
            ("s4", "1.25"),
            ("s3", "1.11"),
            ("s2", "1.05"),
            ("s1", "slower"),
            ("eq", "within the margin"),
            ("f1", "faster"),
            ("f2", "0.95"),
            ("f3", "0.90"),
            ("f4", "0.80"),
            ("f5", "0.65"),
            ("f6", "≤ 0.50"),
        ],
        _ => [
            ("s6", "≤ 0.50"),
            ("s5", "0.65"),
            ("s4", "0.80"),
            ("s3", "0.90"),
            ("s2", "0.95"),
            ("s1", "slower"),
            ("eq", "within the margin"),
            ("f1", "faster"),
            ("f2", "1.05"),
            ("f3", "1.11"),
            ("f4", "1.25"),
            ("f5", "1.54"),
            ("f6", "≥ 2.00"),
        ],
    }
}

fn legend(map: &HeatMap) -> Markup {
    html! {
        @if map.compares {
            ul.legend {
                @for (class, words) in colours(map.display) { li class=(class) { (words) } }
            }
            p.legend {
                @for sign in SIGNS { span { b { (sign.sign) } " " (sign.words) } " " }
                span { b { "!" } " a warning concerns it" } " "
                span { b { "-" } " no figure" }
            }
            @if map.blocks > 0 {
                p { "Ratios are geometric means of up to " (map.blocks) " "
                    @if map.blocks == 1 { "block" } @else { "blocks" }
                    "; a pointer on a cell shows its interval." }
            }
        }
    }
}
