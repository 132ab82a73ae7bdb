//! Colours of pages, for light and dark backgrounds.
//!
//! Colour never carries a meaning alone: cells of the heat map have a figure and a sign, lines of
//! graphs a number at their end. The ramp of targets has equal distances of OKLCH lightness and hue,
//! old targets light and new ones dark (the other way round on dark backgrounds). Its members, and
//! the categories, stay apart for people who see colours differently (simulated after Machado et
//! al., 2009).

use std::fmt::Write as _;

/// A colour of light pages and the one of dark pages that stands for the same.
type Pair = (&'static str, &'static str);

/// Targets that follow each other, such as versions from old to new.
const RAMP: [Pair; 12] = [
    ("#ae8d44", "#875814"),
    ("#ae7a3f", "#9a5f2e"),
    ("#aa6742", "#ab6745"),
    ("#a05749", "#bb705e"),
    ("#934952", "#c97a77"),
    ("#833e59", "#d68590"),
    ("#6f355f", "#e192ab"),
    ("#5a2e62", "#e99fc5"),
    ("#432862", "#f0aee0"),
    ("#2b225d", "#f4bef9"),
    ("#101d53", "#eed6ff"),
    ("#001b38", "#f1ebff"),
];

/// Targets without an order.
const CATEGORIES: [Pair; 6] = [
    ("#311581", "#b55b35"),
    ("#b37805", "#ebf7fd"),
    ("#0b86bd", "#4382f9"),
    ("#7c3d00", "#e1a60b"),
    ("#330100", "#9fc0fe"),
    ("#2c57cd", "#8078ad"),
];

/// The base, whichever targets there are.
const BASE: Pair = ("#5f6368", "#a9adb3");

/// Classes of slower cells, from little to much.
const SLOWER: [Pair; CLASSES] = [
    ("#fdeade", "#3a2a1f"),
    ("#f8ceb2", "#58371f"),
    ("#e9a679", "#7e4921"),
    ("#ce7a3b", "#ac6227"),
    ("#a05000", "#dc8748"),
    ("#743600", "#f5b98f"),
];

/// Classes of faster cells, from little to much.
const FASTER: [Pair; CLASSES] = [
    ("#e4f0fd", "#222f3c"),
    ("#badbfe", "#26425e"),
    ("#85bcf5", "#2d5b88"),
    ("#4d97de", "#397bbb"),
    ("#1f6cb0", "#5aa3ec"),
    ("#114a7d", "#9dcbfa"),
];

/// Classes of cells on each side.
const CLASSES: usize = 6;

/// Ratios at which the classes of slower cells begin, after the margin; those of faster cells are
/// their inverses.
const EDGES: [f64; CLASSES - 1] = [0.95, 0.90, 0.80, 0.65, 0.50];

/// The class of a ratio above 1 where more is better: `s1` to `s6` for slower, `f1` to `f6` for
/// faster, `eq` within the margin, which is a share.
pub(super) fn class(ratio: f64, margin: f64) -> String {
    // The logarithm of a libm may differ in its last digits: an edge must not depend on these.
    let distance = (ratio.ln().abs() * 1e6).round() / 1e6;
    if distance <= margin.ln_1p() {
        return "eq".to_owned();
    }
    let beyond = EDGES.iter().filter(|edge| distance > -edge.ln()).count();
    let side = if ratio < 1.0 { 's' } else { 'f' };
    format!("{side}{}", beyond + 1)
}

/// Custom properties and classes of all colours, for a number of targets and for other lines.
pub(super) fn css(targets: usize, base: usize, ordered: bool) -> String {
    let mut css = String::from(":root{");
    for (side, classes) in [('s', &SLOWER), ('f', &FASTER)] {
        for (index, (light, dark)) in classes.iter().enumerate() {
            let (number, on) = (index + 1, (text_on(light), text_on(dark)));
            let _ = write!(
                css,
                "--{side}{number}:light-dark({light},{dark});\
                 --{side}{number}t:light-dark({},{});",
                on.0, on.1
            );
        }
    }
    for target in 0..targets {
        let (light, dark) = of_target(target, targets, base, ordered);
        let _ = write!(css, "--v{target}:light-dark({light},{dark});");
    }
    css.push('}');
    for side in ['s', 'f'] {
        for number in 1..=CLASSES {
            let _ = write!(
                css,
                ".{side}{number}{{background:var(--{side}{number});color:var(--{side}{number}t)}}"
            );
        }
    }
    for target in 0..targets {
        let _ = write!(css, ".v{target}{{--c:var(--v{target})}}");
    }
    for (line, (light, dark)) in CATEGORIES.iter().chain(&[BASE, RAMP[0]]).enumerate() {
        let _ = write!(css, ".l{line}{{--c:light-dark({light},{dark})}}");
    }
    css
}

/// The colour of a target's lines and marks.
fn of_target(target: usize, targets: usize, base: usize, ordered: bool) -> Pair {
    if target == base {
        return BASE;
    }
    if !ordered && targets <= CATEGORIES.len() {
        return CATEGORIES[target];
    }
    let last = targets.saturating_sub(1).max(1);
    RAMP[(target * (RAMP.len() - 1) + last / 2) / last]
}

/// Black or white, whichever is easier to read on a colour.
fn text_on(background: &str) -> &'static str {
    let luminance = luminance(background);
    if contrast(luminance, 0.0) >= contrast(1.0, luminance) {
        "#000"
    } else {
        "#fff"
    }
}

/// The contrast of two relative luminances, the greater first or not (WCAG 2.2).
fn contrast(one: f64, other: f64) -> f64 {
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

/// The relative luminance of `#rrggbb` (WCAG 2.2).
fn luminance(colour: &str) -> f64 {
    let channel = |from: usize| {
        let digits = colour.get(from..from + 2).unwrap_or("00");
        let value = f64::from(u8::from_str_radix(digits, 16).unwrap_or(0)) / 255.0;
        if value <= 0.04045 {
            value / 12.92
        } else {
            ((value + 0.055) / 1.055).powf(2.4)
        }
    };
    0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Backgrounds of the page.
    const PAGE: Pair = ("#ffffff", "#14161a");

    #[test]
    fn marks_stand_out_from_the_page() {
        let all = RAMP.iter().chain(&CATEGORIES).chain([&BASE]);
        for (light, dark) in all {
            for (colour, page) in [(light, PAGE.0), (dark, PAGE.1)] {
                let contrast = contrast(luminance(colour), luminance(page));
                assert!(contrast >= 2.95, "{colour} on {page}: {contrast}");
            }
        }
    }

    #[test]
    fn figures_in_cells_are_readable() {
        for (light, dark) in SLOWER.iter().chain(&FASTER) {
            for colour in [light, dark] {
                let text = if text_on(colour) == "#000" { 0.0 } else { 1.0 };
                let contrast = contrast(luminance(colour), text);
                assert!(contrast >= 4.5, "{colour}: {contrast}");
            }
        }
    }

    #[test]
    fn classes_are_symmetric() {
        for (ratio, wanted) in [
            (1.0, "eq"),
            (0.992, "eq"),
            (0.97, "s1"),
            (0.94, "s2"),
            (0.85, "s3"),
            (0.7, "s4"),
            (0.6, "s5"),
            (0.001, "s6"),
            (1000.0, "f6"),
        ] {
            assert_eq!(class(ratio, 0.01), wanted, "{ratio}");
            let mirrored = class(1.0 / ratio, 0.01);
            assert_eq!(mirrored.get(1..), wanted.get(1..), "{ratio}");
        }
    }

    #[test]
    fn every_target_has_a_colour() {
        for targets in [1, 2, 6, 12, 40] {
            let css = css(targets, 0, targets > 6);
            assert!(css.contains(&format!(".v{}{{", targets - 1)));
        }
    }
}
