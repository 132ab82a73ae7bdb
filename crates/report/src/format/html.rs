//! The report as one HTML file that needs nothing else: no other file, no network, no JavaScript.
//!
//! Text that comes from an experiment, a server or a host passes through the templates, which escape
//! it. Ready-made markup is the style, the script and the policy alone. The policy of the page
//! forbids its reader's browser every request, and every script but the page's own.

mod blocks;
mod chart;
mod map;
mod palette;
mod rows;
mod scale;
mod terms;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest as _, Sha256};

use crate::chart::Chart;
use crate::document::Block;
use crate::page::web::{AnswerPart, Part, SectionPart, TargetKey, WebPage};
use crate::parallel;
use crate::words::plural;

const STYLE: &str = include_str!("html/style.css");
const SCRIPT: &str = include_str!("html/script.js");

/// Bytes that are searched together for control characters.
const TOGETHER: usize = 4_096;

/// Writes the page; ends with a line feed.
pub(crate) fn write(page: &WebPage) -> String {
    let colours = palette::css(page.targets.len(), page.base, page.ordered);
    whole(&page.title, &colours, body(page))
}

/// Writes blocks, such as those of a view, as a page of their own; ends with a line feed. Graphs have the
/// colours of `targets` targets, of which `base` is the base.
pub(crate) fn write_blocks(title: &str, blocks: &[Block], targets: usize, base: usize) -> String {
    let colours = palette::css(targets, base, false);
    let blocks = blocks
        .iter()
        .filter(|block| !matches!(block, Block::Title(_)));
    let blocks: Vec<Block> = blocks.cloned().collect();
    let body = html! {
        header { h1 { (title) } (theme()) }
        main { (self::blocks::all(&blocks, title, base)) }
    };
    whole(title, &colours, body)
}

/// The file around a body, with the terms that it uses.
fn whole(title: &str, colours: &str, body: Markup) -> String {
    let body = body.into_string();
    let terms = terms::section(&body).into_string();
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy());
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="generator" content="Prony";
                title { (title) }
                link rel="icon" href="data:,";
                style { (PreEscaped(colours)) (PreEscaped(STYLE)) }
            }
            body {
                (PreEscaped(body))
                (PreEscaped(terms))
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    let mut text = shown(page.into_string());
    text.push('\n');
    text
}

/// The content security policy: nothing is fetched, and only this script runs.
fn policy() -> String {
    let digest = BASE64_STANDARD.encode(Sha256::digest(SCRIPT.as_bytes()));
    format!(
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; img-src data:; \
         base-uri 'none'; form-action 'none'"
    )
}

/// Control characters, which HTML can't hold, as the pictures that Unicode has of them.
fn shown(text: String) -> String {
    // Almost no page has any, and pages can have millions of characters: many are looked at together,
    // each with the next.
    let is_control = |byte: u8| byte.is_ascii_control() && !matches!(byte, b'\n' | b'\t');
    let has_any = |(ones, others): (&[u8], &[u8])| {
        let twos = ones.iter().zip(others);
        // Counted, because a search would look at one after the other.
        let controls =
            twos.filter(|&(&one, &other)| is_control(one) || (one == 0xc2 && other < 0xa0));
        controls.count() > 0
    };
    let bytes = text.as_bytes();
    let next = bytes.get(1..).unwrap_or_default();
    let mut chunks = bytes.chunks(TOGETHER).zip(next.chunks(TOGETHER));
    if !chunks.any(has_any) && !bytes.last().copied().is_some_and(is_control) {
        return text;
    }
    let picture = |character: char| match character {
        '\n' | '\t' => character,
        '\u{7f}' => '\u{2421}',
        control if control < ' ' => char::from_u32(0x2400 + control as u32).unwrap_or(control),
        control if control.is_control() => '\u{fffd}',
        other => other,
    };
    text.chars().map(picture).collect()
}

fn body(page: &WebPage) -> Markup {
    let base = page.base;
    let sections = page.sections.iter().enumerate();
    let parts = page.parts.iter();
    let (sections, parts): (Vec<Markup>, Vec<Markup>) = parallel::both(
        || {
            let sections = sections.map(|(index, part)| section(part, index, page));
            sections.collect()
        },
        || parts.map(|own| part(own, base)).collect(),
    );
    html! {
        a.skip href="#answer" { "Skip to the answer" }
        header {
            h1 { (page.title) }
            @if !page.question.is_empty() { p.question { (page.question) } }
            dl.head { @for (name, value) in &page.head { div { dt { (name) } dd { (value) } } } }
            (contents(page))
            (theme())
        }
        main {
            (answer(page))
            section aria-labelledby="targets" {
                h2 id="targets" { "Targets" }
                (targets(&page.targets))
            }
            @if let Some(heat) = &page.map { (map::draw(heat, &page.targets)) }
            @for section in &sections { (section) }
            @if !page.scaling.is_empty() { (scaling(&page.scaling, base)) }
            @for part in &parts { (part) }
        }
    }
}

fn answer(page: &WebPage) -> Markup {
    html! {
        section aria-labelledby="answer" {
            h2 id="answer" { "Answer" }
            @if page.answer.is_empty() {
                @if page.map.is_none() {
                    p { "No trial is done yet, so there are no figures." }
                } @else {
                    p { "There is one target only, so nothing is compared." }
                }
            } @else {
                (findings(&page.answer))
                @if !page.more.is_empty() {
                    details {
                        summary { (plural(page.more.len() as u64, "more finding")) }
                        (findings(&page.more))
                    }
                }
            }
        }
    }
}

fn findings(sentences: &[Vec<AnswerPart>]) -> Markup {
    html! {
        ul { @for sentence in sentences { li { @for part in sentence { (answer_part(part)) } } } }
    }
}

fn answer_part(part: &AnswerPart) -> Markup {
    let figure = html! {
        @match part.value {
            Some(value) => (blocks::figure(&part.text, value, "")),
            None => bdi { (part.text) },
        }
    };
    html! {
        @match &part.anchor {
            Some(anchor) => a href={ "#" (anchor) } { (figure) },
            None => (figure),
        }
    }
}

/// Links to the parts.
fn contents(page: &WebPage) -> Markup {
    let steps = page.sections.iter().enumerate();
    html! {
        nav aria-label="Contents" {
            ul {
                li { a href="#answer" { "Answer" } }
                @if page.map.is_some() { li { a href="#map" { "All cells" } } }
                @for (index, section) in steps {
                    li { a href=(format!("#section{index}")) { (section.title) } }
                }
                @if !page.scaling.is_empty() { li { a href="#scaling" { "Scaling" } } }
            }
            details {
                summary { "Everything else" }
                ul {
                    @for part in &page.parts { li { a href={ "#" (part.id) } { (part.title) } } }
                    li { a href="#terms" { "Terms" } }
                }
            }
        }
    }
}

/// The choice of the theme, which works without JavaScript.
fn theme() -> Markup {
    html! {
        fieldset.choice.theme {
            legend { "Theme" }
            @for (id, name) in [("auto", "as the system"), ("light", "light"), ("dark", "dark")] {
                label {
                    input type="radio" name="theme" id={ "theme-" (id) } checked[id == "auto"];
                    " " (name)
                }
            }
        }
    }
}

/// The list that explains the numbers and colours of targets.
fn targets(targets: &[TargetKey]) -> Markup {
    html! {
        ol.targets {
            @for target in targets {
                li class={ "v" (target.index) } {
                    span.swatch aria-hidden="true" {} " "
                    bdi { (target.name) }
                    @if let Some(role) = target.role { " (" (role) ")" }
                }
            }
        }
    }
}

fn section(section: &SectionPart, index: usize, page: &WebPage) -> Markup {
    let axis = rows::axis_of(section);
    html! {
        section.steps aria-labelledby=(format!("section{index}")) {
            h2 id=(format!("section{index}")) { (section.title) }
            (blocks::all(&section.summary, &section.title, page.base))
            @if !section.charts.is_empty() {
                details {
                    summary { "Graphs over the targets" }
                    div.charts { @for chart in &section.charts { (chart::draw(chart, page.base)) } }
                }
            }
            @for step in parallel::map(section.steps.iter().collect(), |step| rows::step(step, &axis, page)) {
                (step)
            }
        }
    }
}

fn scaling(charts: &[Chart], base: usize) -> Markup {
    html! {
        section aria-labelledby="scaling" {
            h2 id="scaling" { "Scaling over clients" }
            p { "Operations per second by the number of clients. Numbers at the ends of lines are "
                "those of the " a href="#targets" { "targets" } "; the figures are in the tables of "
                "the steps. Sentences below a graph name the load generator's ceiling on this machine, and "
                "the numbers of clients between which another of two targets is ahead." }
            div.charts { @for chart in charts { (chart::draw(chart, base)) } }
        }
    }
}

fn part(part: &Part, base: usize) -> Markup {
    html! {
        section aria-labelledby=(part.id) {
            h2 id=(part.id) { (part.title) }
            @if part.folded {
                details {
                    summary { "Show " span.vh { (part.title) } }
                    (blocks::all(&part.blocks, &part.title, base))
                }
            } @else {
                (blocks::all(&part.blocks, &part.title, base))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::{Axis, Line, Point, Scale};
    use crate::document::{Cell, Table};

    #[test]
    fn control_characters_are_shown() {
        assert_eq!(shown("a\u{0}b\rc\n\u{7f}\u{9b}".into()), "a␀b␍c\n␡\u{fffd}");
        assert_eq!(shown("a ± b".into()), "a ± b");
    }

    /// A page with a text in every place where one may be.
    fn page_of(text: &str) -> WebPage {
        let axis = |scale| Axis {
            label: text.to_owned(),
            scale,
        };
        let point = Point {
            x: 0.0,
            y: 1.0,
            interval: None,
        };
        let line = |target| Line {
            name: text.to_owned(),
            target,
            points: vec![point; 2],
        };
        let chart = Chart {
            title: text.to_owned(),
            x: axis(Scale::Names(vec![text.to_owned(); 12])),
            y: axis(Scale::FromZero),
            lines: vec![line(None), line(Some(0))],
            limit: Some(line(None)),
            notes: vec![text.to_owned()],
        };
        let cells = || {
            vec![
                Cell::from(text),
                Cell::figure(text.to_owned(), 1.0).marked(true),
            ]
        };
        let blocks = vec![
            Block::Subheading(text.to_owned()),
            Block::Paragraph(text.to_owned()),
            Block::Facts(vec![("Fact", text.to_owned())]),
            Block::Table(Table::of_figures(cells(), [cells()])),
            Block::Chart(chart.clone()),
            Block::List(vec![text.to_owned()]),
            Block::Verbatim(vec![text.to_owned()]),
        ];
        let of_answer = |value: Option<f64>| AnswerPart {
            text: text.to_owned(),
            value,
            anchor: value.map(|_| "p1".to_owned()),
        };
        WebPage {
            title: text.to_owned(),
            question: text.to_owned(),
            head: vec![("Run", text.to_owned())],
            answer: vec![[None, Some(1.0)].map(of_answer).into()],
            more: vec![[None, Some(1.0)].map(of_answer).into()],
            targets: vec![TargetKey {
                index: 0,
                name: text.to_owned(),
                role: None,
            }],
            base: 0,
            ordered: true,
            map: None,
            sections: vec![SectionPart {
                title: text.to_owned(),
                summary: blocks.clone(),
                charts: vec![chart.clone()],
                steps: Vec::new(),
            }],
            scaling: vec![chart],
            parts: vec![Part {
                id: "p1".into(),
                title: text.to_owned(),
                folded: true,
                blocks,
            }],
        }
    }

    proptest::proptest! {
        /// Whatever a text is, the page has the same elements and shows the text.
        #[test]
        fn texts_are_no_markup(text in "[ -~<>&\"'\u{202e}א-ת一-三\u{300}-\u{310}]{0,90}") {
            let text = format!("long{text}y");
            // The terms follow from the words of a page.
            let of = |text: &str| body(&page_of(text)).into_string();
            let (odd, plain) = (of(&text), of("long一y"));
            proptest::prop_assert_eq!(odd.matches('<').count(), plain.matches('<').count());
            proptest::prop_assert_eq!(odd.matches('"').count(), plain.matches('"').count());
            let escaped = text.replace('&', "&amp;").replace('<', "&lt;");
            let escaped = escaped.replace('>', "&gt;").replace('"', "&quot;");
            let shown = odd.matches(escaped.as_str()).count();
            proptest::prop_assert_eq!(shown, plain.matches("long一y").count());
        }
    }

    #[test]
    fn the_script_is_small_and_asks_for_nothing() {
        assert!(SCRIPT.len() <= 12 * 1024, "{}", SCRIPT.len());
        for word in ["http", "fetch(", "import", "</script", "eval("] {
            assert!(!SCRIPT.contains(word), "{word}");
        }
        assert!(!STYLE.contains("url(") && !STYLE.contains("@import"));
        assert!(!STYLE.contains("</style"));
    }
}
