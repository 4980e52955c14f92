//! The schema of all documents, made of their types.

use super::object::{Object, Pages, Set};
use super::tables::{CpuKind, Level, Matrix, MemoryAttribute, Topology};
use super::{cluster, devices, jobs, node};
use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value};
use std::borrow::Cow;
use topobroker_reader as reader;
use topobroker_reader::{Associativity, AttributeValue, Bridge, Cache, Group, OsDeviceKind, Pci};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/json/topobroker.schema.json");

#[test]
fn the_schema_in_the_documentation_is_that_of_the_types() {
    let generated = serde_json::to_string_pretty(&schema()).unwrap() + "\n";
    if std::env::var_os("TOPOBROKER_UPDATE_SCHEMA").is_some() {
        std::fs::write(FILE, &generated).unwrap();
    }
    assert!(
        std::fs::read_to_string(FILE).unwrap() == generated,
        "{FILE} is stale: run this test with TOPOBROKER_UPDATE_SCHEMA=1, and look at what changed"
    );
}

fn schema() -> Value {
    let mut generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let documents = documents(&mut generator);
    let types = generator.take_definitions(true).into_iter();
    let all = types
        .chain(documents.into_iter().map(|(name, schema)| (name.to_owned(), schema.to_value())));
    let mut schema = json_schema!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:topobroker:json:1",
        "title": "What topobroker prints with --json, version 1",
        "description": "Each definition whose name begins with `topobroker` is the document of \
                        that command.",
        "$defs": all.collect::<Map<String, Value>>(),
    });
    RecursiveTransform(only_these_fields).transform(&mut schema);
    schema.to_value()
}

/// The documents, by the commands that print them.
fn documents(all: &mut SchemaGenerator) -> Vec<(&'static str, Schema)> {
    vec![
        ("topobroker ls", all.subschema_for::<Topology<'_>>()),
        ("topobroker ls --summary", all.subschema_for::<Vec<Level>>()),
        ("topobroker ls --only TYPE", all.subschema_for::<Vec<Object<'_>>>()),
        ("topobroker ls --distances", all.subschema_for::<Vec<Matrix<'_>>>()),
        ("topobroker ls --memattrs", all.subschema_for::<Vec<MemoryAttribute<'_>>>()),
        ("topobroker ls --cpukinds", all.subschema_for::<Vec<CpuKind<'_>>>()),
        ("topobroker info", all.subschema_for::<Vec<Level>>()),
        ("topobroker info LOCATION", all.subschema_for::<Vec<Object<'_>>>()),
        ("topobroker calc", all.subschema_for::<node::Calculated>()),
        ("topobroker distrib", all.subschema_for::<Vec<Set>>()),
        ("topobroker bind --get", all.subschema_for::<node::Bound>()),
        ("topobroker ps", all.subschema_for::<Vec<node::Process<'_>>>()),
        ("topobroker scope", all.subschema_for::<node::Scope<'_>>()),
        ("topobroker status", all.subschema_for::<node::Status<'_>>()),
        ("topobroker doctor", all.subschema_for::<Vec<node::Answer<'_>>>()),
        ("topobroker check", all.subschema_for::<Vec<node::Finding<'_>>>()),
        ("topobroker audit", all.subschema_for::<node::Audit<'_>>()),
        ("topobroker publish", all.subschema_for::<Keys>()),
        ("topobroker load", all.subschema_for::<Keys>()),
        ("topobroker devices", all.subschema_for::<Vec<devices::Device<'_>>>()),
        ("topobroker networks", all.subschema_for::<Vec<devices::FoundNetwork<'_>>>()),
        ("topobroker ports", all.subschema_for::<Vec<devices::AnyPort<'_>>>()),
        ("topobroker links", all.subschema_for::<NodeLinkData>()),
        ("topobroker links --pairs", all.subschema_for::<Vec<devices::LinkPath<'_>>>()),
        ("topobroker job list", all.subschema_for::<Vec<jobs::Job<'_>>>()),
        ("topobroker job show", all.subschema_for::<Vec<jobs::RankOfJob>>()),
        ("topobroker job locality", all.subschema_for::<Vec<jobs::RankLocality>>()),
        ("topobroker job nics", all.subschema_for::<Vec<jobs::NicsOfRank<'_>>>()),
        ("topobroker job gpus", all.subschema_for::<Vec<jobs::GpusOfRank<'_>>>()),
        ("topobroker job groups", all.subschema_for::<jobs::Groups>()),
        ("topobroker cluster ls", all.subschema_for::<cluster::Cluster<'_>>()),
        ("topobroker cluster info", all.subschema_for::<cluster::ClusterNode<'_>>()),
        ("topobroker cluster common", all.subschema_for::<cluster::Group<'_>>()),
        ("topobroker cluster fabric", all.subschema_for::<cluster::FabricCounts>()),
        ("topobroker cluster fabric --links", all.subschema_for::<Vec<cluster::Switch<'_>>>()),
        ("topobroker cluster fabric FROM TO", all.subschema_for::<cluster::Paths<'_>>()),
        ("topobroker cluster reach", all.subschema_for::<Vec<cluster::Reached<'_>>>()),
        ("topobroker cluster pairs", all.subschema_for::<cluster::Pairs<'_>>()),
        ("topobroker cluster ports", all.subschema_for::<Vec<cluster::PortsOfNodes>>()),
        ("topobroker cluster check", all.subschema_for::<Vec<node::Finding<'_>>>()),
        ("topobroker cluster diff", all.subschema_for::<Vec<cluster::Change<'_>>>()),
    ]
}

/// Documents have the fields that the schema names, and no others. How many bits a number has is of
/// no use to their readers.
fn only_these_fields(schema: &mut Schema) {
    schema.remove("format");
    if schema.get("properties").is_some() {
        schema.insert("additionalProperties".to_owned(), false.into());
    }
}

/// What the reader writes without a library.
#[derive(JsonSchema)]
#[allow(dead_code, reason = "only its schema is used")]
struct Keys {
    file: String,
    #[schemars(regex(pattern = "^0x[0-9a-f]+$"))]
    address: String,
    size: u64,
}

/// Node-link data of networkx, which `topobroker::links::json` writes.
#[derive(JsonSchema)]
#[allow(dead_code, reason = "only its schema is used")]
struct NodeLinkData {
    directed: bool,
    multigraph: bool,
    graph: Map<String, Value>,
    nodes: Vec<Vertex>,
    edges: Vec<Edge>,
}

/// A vertex of links.
#[derive(JsonSchema)]
#[allow(dead_code, reason = "only its schema is used")]
struct Vertex {
    id: String,
    kind: String,
    object: Option<String>,
}

/// A direction of a link.
#[derive(JsonSchema)]
#[allow(dead_code, reason = "only its schema is used")]
struct Edge {
    source: String,
    target: String,
    class: String,
    /// In MB/s.
    bandwidth: Option<u32>,
    /// In nanoseconds.
    latency: Option<u32>,
    links: Option<u32>,
    origin: String,
}

/// Attributes by their names in hwloc, one list of names for each kind of object.
pub(super) struct Attributes;

impl JsonSchema for Attributes {
    fn schema_name() -> Cow<'static, str> {
        "Attributes".into()
    }

    fn json_schema(all: &mut SchemaGenerator) -> Schema {
        let pages = all.subschema_for::<Vec<Pages>>();
        let bridge = Bridge::default();
        let cache = Cache { associativity: Some(Associativity::Full), ..Cache::default() };
        let kinds = [
            reader::Attributes::None,
            reader::Attributes::Cache(cache),
            reader::Attributes::NumaNode { local_memory: 0 },
            reader::Attributes::Group(Group::default()),
            reader::Attributes::Bridge(bridge),
            reader::Attributes::Bridge(Bridge { upstream: Some(Pci::default()), ..bridge }),
            reader::Attributes::Pci(Pci::default()),
            reader::Attributes::OsDevice { kind: OsDeviceKind::Block },
        ];
        let kinds = kinds.map(|attributes| {
            let mut properties = Map::new();
            attributes.each(&mut |name, value| {
                properties.insert(name.to_owned(), of_value(value).to_value());
            });
            if matches!(attributes, reader::Attributes::NumaNode { .. }) {
                properties.insert("page_types".to_owned(), pages.clone().to_value());
            }
            let required: Vec<String> = properties.keys().cloned().collect();
            json_schema!({ "type": "object", "properties": properties, "required": required })
        });
        json_schema!({
            "description": "Attributes by their names in hwloc. Sizes are in bytes, speeds in \
                            GB/s.",
            "anyOf": kinds,
        })
    }
}

/// What is not known is null.
fn of_value(value: AttributeValue) -> Schema {
    let types: &[&str] = match value {
        AttributeValue::Number(_) => &["integer"],
        AttributeValue::Signed(_) => &["integer", "null"],
        AttributeValue::Flag(_) => &["boolean"],
        AttributeValue::PciId(_) | AttributeValue::BusId(_) | AttributeValue::Text(_) => {
            &["string"]
        }
        _ => &["number", "null"],
    };
    json_schema!({ "type": types })
}
