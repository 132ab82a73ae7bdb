//! Names of C++ as GCC before 3.0 mangled them. `c++filt` and the libraries for the Itanium ABI do not
//! know them. MySQL up to 5.0 was built with GCC 2.95.
//!
//! Only the qualified name is read: `fix_fields__10Item_fieldP3THDPP4Item` is
//! `Item_field::fix_fields`. The form is described in "gcc/cp/mangling" of binutils' old demangler:
//! a name, two underscores, `C` for a method that does not change its object, then the class as
//! length and name (`5Class`), as several of these (`Q2` and two), as a template (`t` and a class), or `F`
//! for a function of no class; parameters follow. Constructors have no name, destructors `_._` or `_$_`.

/// The qualified name in a symbol; `None` if it has none of these forms.
pub(super) fn qualified(symbol: &str) -> Option<String> {
    for destructor in ["_._", "_$_"] {
        if let Some(rest) = symbol.strip_prefix(destructor) {
            let (class, _) = class(rest)?;
            return Some(format!("{class}::~{}", last(&class)));
        }
    }
    if let Some((class, _)) = symbol.strip_prefix("__").and_then(class) {
        return Some(format!("{class}::{}", last(&class)));
    }
    // A name may itself have two underscores: the first place after which a class or parameters
    // follow divides it.
    for (at, _) in symbol.match_indices("__") {
        let (name, rest) = (&symbol[..at], &symbol[at + 2..]);
        if name.is_empty() {
            continue;
        }
        // A parameter list of free functions, or of function templates.
        if rest.len() > 1 && (rest.starts_with('F') || rest.starts_with("H1")) {
            return Some(name.to_owned());
        }
        let of_class = rest.strip_prefix('C').unwrap_or(rest);
        if let Some((class, _)) = class(of_class) {
            return Some(format!("{class}::{name}"));
        }
    }
    None
}

/// A class at the beginning of the text, and the rest.
fn class(text: &str) -> Option<(String, &str)> {
    if let Some(rest) = text.strip_prefix('Q') {
        let count = rest.chars().next()?.to_digit(10)?;
        let mut rest = &rest[1..];
        let mut parts = Vec::new();
        for _ in 0..count {
            let (part, after) = simple(rest.strip_prefix('_').unwrap_or(rest))?;
            parts.push(part);
            rest = after;
        }
        return (!parts.is_empty()).then(|| (parts.join("::"), rest));
    }
    let (name, rest) = simple(text.strip_prefix('t').unwrap_or(text))?;
    Some((name.to_owned(), rest))
}

/// A length and a name of this length.
fn simple(text: &str) -> Option<(&str, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let length: usize = text[..digits].parse().ok()?;
    let name = text.get(digits..digits.checked_add(length)?)?;
    let begins = name.chars().next()?;
    let is_name = begins.is_ascii_alphabetic() || begins == '_';
    is_name.then(|| (name, &text[digits + length..]))
}

/// The innermost part of a qualified name.
fn last(class: &str) -> &str {
    class.rsplit("::").next().unwrap_or(class)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn qualified_names_are_read() {
        for (symbol, name) in [
            ("mysql_execute_command__FP3THD", "mysql_execute_command"),
            (
                "fix_fields__10Item_fieldP3THDPP4Item",
                "Item_field::fix_fields",
            ),
            ("val_int__C4Item", "Item::val_int"),
            ("__4JOINP3THDRt4List1Z4ItemUlP13select_result", "JOIN::JOIN"),
            ("_._13select_result", "select_result::~select_result"),
            ("_$_13select_result", "select_result::~select_result"),
            ("run__Q25Outer5Inneri", "Outer::Inner::run"),
            ("push_back__t4List1Z4ItemP4Item", "List::push_back"),
        ] {
            assert_eq!(qualified(symbol).as_deref(), Some(name), "{symbol}");
        }
    }

    #[test]
    fn names_of_c_are_left_alone() {
        for symbol in [
            "my_net_write",
            "__pthread_mutex_lock",
            "__libc_start_main",
            "a__b",
            "_mi_search",
        ] {
            assert_eq!(qualified(symbol), None, "{symbol}");
        }
    }
}
