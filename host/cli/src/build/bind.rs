//! A runner and the files of one flow, as one component.
//!
//! Around both stands a component that imports what the runner imports, but for `flowhost:flow/source`, which the files export; it exports
//! the functions that the runner exports. Side by side they may call one another: into a component that it is inside of, none may.

use wasm_encoder::{
    Alias, Component, ComponentAliasSection, ComponentExportKind, ComponentExportSection, ComponentImportSection,
    ComponentInstanceSection, ComponentSectionId, RawSection,
    reencode::{self, Reencode, ReencodeComponent},
};
use wasmparser::{ComponentAlias, ComponentExternalKind, ComponentTypeRef, Parser, Payload};

/// How the names of the interfaces begin: what the runner asks for, and whose types that uses.
const SOURCE: &str = "flowhost:flow/source@";
const TYPES: &str = "flowhost:flow/types@";

/// The two as one.
///
/// # Errors
/// Where the runner is no component that imports its source, in a line.
pub(super) fn bind(runner: &[u8], files: &[u8]) -> Result<Vec<u8>, String> {
    let mut around = Around { files, ..Around::default() };
    let mut component = Component::new();
    around.parse_component(&mut component, Parser::new(0), runner).map_err(said)?;
    around.end(&mut component, runner).map_err(said)?;
    Ok(component.finish())
}

fn said(error: reencode::Error<String>) -> String {
    match error {
        reencode::Error::UserError(why) => why,
        other => format!("the runner cannot be read: {other}"),
    }
}

fn unfit(why: &str) -> reencode::Error<String> {
    reencode::Error::UserError(format!("the runner is not as runners are: {why}"))
}

/// What is made around the runner, from the beginning of the runner itself.
#[derive(Default)]
struct Around<'a> {
    files: &'a [u8],
    /// How many there are so far.
    instances: u32,
    types: u32,
    funcs: u32,
    /// The instance that is `types`.
    shared: Option<u32>,
    /// The instance of the files. From there on there is one more than the runner counts.
    source: Option<u32>,
    /// What the runner is instantiated with.
    arguments: Vec<(String, ComponentExportKind, u32)>,
    /// The functions that it exports. What a language's own tools export beside is nothing of a flow's.
    exports: Vec<String>,
    /// Whether what the runner is made of has begun: all imports stand before it.
    inside: bool,
}

impl Around<'_> {
    fn import(
        &mut self,
        to: &mut Component,
        import: &wasmparser::ComponentImport<'_>,
    ) -> Result<(), reencode::Error<String>> {
        if self.inside {
            return Err(unfit("it imports something after its beginning"));
        }
        let name = import.name.name;
        if name.starts_with(SOURCE) {
            return self.put_files(to, name);
        }
        if name.starts_with(TYPES) {
            self.shared = Some(self.instances);
        }
        let (kind, count) = match import.ty {
            ComponentTypeRef::Instance(_) => (ComponentExportKind::Instance, &mut self.instances),
            ComponentTypeRef::Type(_) => (ComponentExportKind::Type, &mut self.types),
            ComponentTypeRef::Func(_) => (ComponentExportKind::Func, &mut self.funcs),
            _ => return Err(unfit("it imports what is no interface, type or function")),
        };
        self.arguments.push((name.to_owned(), kind, *count));
        *count += 1;
        let mut section = ComponentImportSection::new();
        section.import(import.name, self.component_type_ref(import.ty)?);
        to.section(&section);
        Ok(())
    }

    fn put_files(&mut self, to: &mut Component, interface: &str) -> Result<(), reencode::Error<String>> {
        let shared = self.shared.ok_or_else(|| unfit("it asks for its source before it has the types"))?;
        to.section(&RawSection { id: ComponentSectionId::Component.into(), data: self.files });
        let kind = ComponentExportKind::Instance;
        let types = interface.replacen(SOURCE, TYPES, 1);
        let mut instances = ComponentInstanceSection::new();
        instances.instantiate(0, [(types.as_str(), kind, shared)]);
        to.section(&instances);
        let mut aliases = ComponentAliasSection::new();
        aliases.alias(Alias::InstanceExport { instance: self.instances, kind, name: interface });
        to.section(&aliases);
        self.source = Some(self.instances);
        self.arguments.push((interface.to_owned(), kind, self.instances + 1));
        self.instances += 2;
        Ok(())
    }

    /// The runner itself, and what it exports.
    fn end(self, to: &mut Component, runner: &[u8]) -> Result<(), reencode::Error<String>> {
        if self.source.is_none() {
            return Err(unfit("it asks for no source"));
        }
        to.section(&RawSection { id: ComponentSectionId::Component.into(), data: runner });
        let mut instances = ComponentInstanceSection::new();
        // The files are the first component, and it is the second.
        instances.instantiate(1, self.arguments);
        to.section(&instances);
        let mut aliases = ComponentAliasSection::new();
        let mut exports = ComponentExportSection::new();
        for (nth, name) in (self.funcs..).zip(&self.exports) {
            let kind = ComponentExportKind::Func;
            aliases.alias(Alias::InstanceExport { instance: self.instances, kind, name });
            // An export is a function of its own, which counts too: all aliases stand before them.
            exports.export(name.as_str(), kind, nth, None);
        }
        to.section(&aliases);
        to.section(&exports);
        Ok(())
    }
}

impl Reencode for Around<'_> {
    type Error = String;
}

impl ReencodeComponent for Around<'_> {
    fn component_instance_index(&mut self, index: u32) -> u32 {
        match self.source {
            // The one in the import's place too: before it stands that of the files.
            Some(source) if index >= source => index + 1,
            _ => index,
        }
    }

    fn parse_component_payload(
        &mut self,
        to: &mut Component,
        payload: Payload<'_>,
        whole: &[u8],
    ) -> Result<(), reencode::Error<String>> {
        match &payload {
            Payload::ComponentImportSection(section) => {
                for import in section.clone() {
                    self.import(to, &import?)?;
                }
            }
            Payload::ComponentExportSection(section) => {
                for export in section.clone() {
                    let export = export?;
                    if export.kind == ComponentExternalKind::Func {
                        self.exports.push(export.name.name.to_owned());
                    }
                }
            }
            // Types name other types and no instances, so they are the same here.
            Payload::ComponentTypeSection(section) if !self.inside => {
                self.types += section.count();
                if let Some((id, range)) = payload.as_section() {
                    let data = whole.get(range).ok_or_else(|| unfit("a section leads out of it"))?;
                    to.section(&RawSection { id, data });
                }
            }
            Payload::ComponentAliasSection(section) if !self.inside => {
                for alias in section.clone() {
                    let ComponentAlias::InstanceExport { kind: ComponentExternalKind::Type, .. } = alias? else {
                        return Err(unfit("it takes more than types out of what it imports"));
                    };
                    self.types += 1;
                }
                reencode::component_utils::parse_component_payload(self, to, payload, whole)?;
            }
            Payload::Version { .. } | Payload::CustomSection(_) | Payload::End(_) => {}
            _ => self.inside = true,
        }
        Ok(())
    }
}
