//! Names of functions that can be compared between builds: without parameters, arguments of templates,
//! and what compilers add to them.

mod gnu2;

use cpp_demangle::{DemangleOptions, Symbol};

/// Endings that compilers give to parts and variants of one function. A number may follow each.
const VARIANTS: [&str; 9] = [
    "isra",
    "part",
    "constprop",
    "cold",
    "lto_priv",
    "localalias",
    "llvm",
    "cfi",
    "resolver",
];

/// The comparable name of a function: `row_search_mvcc`, `JOIN::optimize`. Takes a symbol as the linker
/// has it, of C, of C++ (Itanium ABI), or of C++ as GCC before 3.0 mangled it.
pub(crate) fn comparable(symbol: &str) -> String {
    // Versions of symbols follow an at sign: `memcpy@@GLIBC_2.14`.
    let symbol = symbol.split('@').next().unwrap_or(symbol);
    let symbol = without_variants(symbol);
    if symbol.starts_with("_Z") {
        let options = DemangleOptions::new().no_params().no_return_type();
        let demangled = Symbol::new(symbol).ok();
        let demangled = demangled.and_then(|parsed| parsed.demangle_with_options(&options).ok());
        return demangled.map_or_else(|| symbol.to_owned(), |name| plain(&name));
    }
    gnu2::qualified(symbol).unwrap_or_else(|| symbol.to_owned())
}

/// Cuts `.isra.0`, `.part.3.cold` and the like.
fn without_variants(mut symbol: &str) -> &str {
    while let Some((rest, ending)) = symbol.rsplit_once('.') {
        let is_number = !ending.is_empty() && ending.bytes().all(|byte| byte.is_ascii_digit());
        // Destructors of GCC 2.95 are `_._5Class`.
        if rest.is_empty() || rest == "_" || !(is_number || VARIANTS.contains(&ending)) {
            break;
        }
        symbol = rest;
    }
    symbol
}

/// A demangled name without arguments of templates, parameters, and tags of the ABI.
fn plain(demangled: &str) -> String {
    let anonymous = demangled.replace("(anonymous namespace)::", "");
    let name = without_lambdas(&anonymous);
    let name = without_templates(&name);
    // Parameters are only left inside names that are local to a function.
    let name = without_parentheses(&name);
    let name = name.replace("[abi:cxx11]", "");
    let name = name
        .replace("std::__cxx11::", "std::")
        .replace("std::__1::", "std::");
    // Clones: `f [clone .part.0]`.
    let name = name.split(" [clone").next().unwrap_or(&name).trim();
    // Conversions have a type behind them, and others at most a type before them.
    match name.rsplit_once(' ') {
        Some((_, last)) if !name.contains("operator") => last.to_owned(),
        _ => name.to_owned(),
    }
}

/// `{lambda(int)#2}` as `{lambda}`.
fn without_lambdas(name: &str) -> String {
    const BEGIN: &str = "{lambda(";
    let mut out = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(at) = rest.find(BEGIN) {
        out.push_str(&rest[..at]);
        out.push_str("{lambda}");
        rest = match rest[at..].find('}') {
            Some(end) => &rest[at + end + 1..],
            None => "",
        };
    }
    out.push_str(rest);
    out
}

/// Leaves out what is between angle brackets that are no operator.
fn without_templates(name: &str) -> String {
    let bytes = name.as_bytes();
    let mut out = String::with_capacity(name.len());
    let mut depth = 0_usize;
    let mut at = 0;
    while at < bytes.len() {
        let operator = (depth == 0)
            .then(|| operator_with_brackets(&name[at..]))
            .flatten();
        if let Some(operator) = operator {
            out.push_str(operator);
            at += operator.len();
            continue;
        }
        let Some(letter) = name[at..].chars().next() else {
            break;
        };
        match letter {
            '<' => depth += 1,
            // The arrow of a return type closes nothing.
            '>' if at > 0 && bytes[at - 1] == b'-' => {}
            '>' => depth = depth.saturating_sub(1),
            _ if depth == 0 => out.push(letter),
            _ => {}
        }
        at += letter.len_utf8();
    }
    out
}

/// The operator at the beginning of the text, where it is one of those that have angle brackets.
fn operator_with_brackets(text: &str) -> Option<&'static str> {
    const OPERATORS: [&str; 11] = [
        "operator<<=",
        "operator>>=",
        "operator<=>",
        "operator->*",
        "operator<<",
        "operator>>",
        "operator<=",
        "operator>=",
        "operator->",
        "operator<",
        "operator>",
    ];
    OPERATORS
        .into_iter()
        .find(|operator| text.starts_with(operator))
}

/// Leaves out what is between parentheses, except those of `operator()`.
fn without_parentheses(name: &str) -> String {
    const CALL: &str = "operator()";
    let mut out = String::with_capacity(name.len());
    let mut depth = 0_usize;
    let mut rest = name;
    while let Some(letter) = rest.chars().next() {
        if depth == 0 && rest.starts_with(CALL) {
            out.push_str(CALL);
            rest = &rest[CALL.len()..];
            continue;
        }
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ if depth == 0 => out.push(letter),
            _ => {}
        }
        rest = &rest[letter.len_utf8()..];
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_c_lose_versions_and_variants() {
        for (symbol, name) in [
            ("row_search_mvcc", "row_search_mvcc"),
            ("memcpy@@GLIBC_2.14", "memcpy"),
            ("dict_index_find.isra.3", "dict_index_find"),
            ("fil_io.part.12.cold", "fil_io"),
            ("my_hash_sort_simple.lto_priv.0", "my_hash_sort_simple"),
            ("__memcpy_avx_unaligned_erms", "__memcpy_avx_unaligned_erms"),
            ("", ""),
        ] {
            assert_eq!(comparable(symbol), name, "{symbol}");
        }
    }

    #[test]
    fn names_of_cpp_lose_what_compilers_differ_in() {
        for (symbol, name) in [
            ("_ZN4JOIN8optimizeEv", "JOIN::optimize"),
            (
                "_Z16dispatch_command19enum_server_commandP3THDPcj",
                "dispatch_command",
            ),
            (
                "_ZN11PolicyMutexI14TTASEventMutexI13GenericPolicyEE5enterEjjPKcj",
                "PolicyMutex::enter",
            ),
            ("_ZNKSt8functionIFvvEEclEv", "std::function::operator()"),
            ("_ZN12_GLOBAL__N_11fEv", "f"),
            (
                "_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEED1Ev",
                "std::basic_string::~basic_string",
            ),
            ("_ZN3FooltERKS_", "Foo::operator<"),
            ("_ZN3FoolsERKS_", "Foo::operator<<"),
            ("_ZN3FooptEv", "Foo::operator->"),
            ("_Zbroken", "_Zbroken"),
        ] {
            assert_eq!(comparable(symbol), name, "{symbol}");
        }
    }

    #[test]
    fn anything_is_taken() {
        use proptest::prelude::*;
        proptest!(|(text in "\\PC{0,60}", symbol in "_Z[A-Za-z0-9_]{0,60}")| {
            comparable(&text);
            comparable(&symbol);
        });
    }
}
