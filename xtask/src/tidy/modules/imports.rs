//! Names that `use` brings into a module.

use syn::UseTree;
use syn::visit::Visit;

use super::Path;

/// The names, with the paths that they are short for.
#[derive(Default)]
pub(super) struct Imports(pub(super) Vec<(String, Path)>);

impl<'ast> Visit<'ast> for Imports {
    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.add(&item.tree, Path::new());
    }
}

impl Imports {
    fn add(&mut self, tree: &UseTree, mut path: Path) {
        let (name, part) = match tree {
            UseTree::Path(tree) => {
                path.push(tree.ident.to_string());
                return self.add(&tree.tree, path);
            }
            UseTree::Group(group) => {
                let trees = group.items.iter();
                return trees.for_each(|tree| self.add(tree, path.clone()));
            }
            UseTree::Name(tree) if tree.ident == "self" => {
                (path.last().cloned().unwrap_or_default(), None)
            }
            UseTree::Name(tree) => (tree.ident.to_string(), Some(tree.ident.to_string())),
            UseTree::Rename(tree) => (tree.rename.to_string(), Some(tree.ident.to_string())),
            UseTree::Glob(_) => ("*".to_owned(), Some("*".to_owned())),
        };
        path.extend(part.filter(|part| part != "self"));
        self.0.push((name, path));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(code: &str) -> Vec<(String, String)> {
        let mut imports = Imports::default();
        imports.visit_file(&syn::parse_file(code).unwrap());
        let imports = imports.0.into_iter();
        imports
            .map(|(name, path)| (name, path.join("::")))
            .collect()
    }

    #[test]
    fn statements_stand_anywhere() {
        let code = "use a::b;\npub(crate) use c;\nfn f(x: &str) {\n use d::e;\n}\n";
        let names: Vec<_> = of(code).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["b", "c", "e"]);
    }

    #[test]
    fn imports_are_trees() {
        let code = "use crate::a::{self, B as C, d::{E, F},\n    g::*};";
        let expected = [
            ("a", "crate::a"),
            ("C", "crate::a::B"),
            ("E", "crate::a::d::E"),
            ("F", "crate::a::d::F"),
            ("*", "crate::a::g::*"),
        ];
        assert_eq!(
            of(code),
            expected.map(|(a, b)| (a.to_owned(), b.to_owned()))
        );
    }
}
