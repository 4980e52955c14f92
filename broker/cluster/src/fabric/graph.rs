//! The graph of a fabric while it is read.

use super::error::{FabricError, FabricErrorKind};
use crate::located::Located;
use std::collections::BTreeMap;

/// One end of a link: a switch by its GUID, or a port of a host by its own, and the number of the
/// port.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct End {
    /// GUID of the switch, or of the port of a host.
    pub guid: u64,
    /// Number of the port.
    pub port: u16,
}

/// Switches, ports of hosts, and links.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FabricGraph {
    pub(super) switches: BTreeMap<u64, Vertex>,
    pub(super) ports: BTreeMap<u64, Vertex>,
    /// The other end of each connected port, and what the link carries in Mb/s.
    pub(super) links: BTreeMap<End, (End, Option<u32>)>,
    /// Where each link was read: number of the file and line.
    lines: BTreeMap<End, (usize, usize)>,
    files: Vec<String>,
    pub(super) warnings: usize,
}

/// A switch or a port of a host.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Vertex {
    pub(super) name: String,
    pub(super) lid: u16,
    /// Highest number of a port.
    pub(super) ports: u16,
    /// GUID of the adapter that a port is on, 0 if unknown.
    pub(super) adapter: u64,
    /// Whether it is a port of a router between subnets, and of no host.
    pub(super) is_router: bool,
}

/// What a vertex is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EndKind {
    Switch,
    Host,
    Router,
}

impl core::fmt::Display for End {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{:#018x}[{}]", self.guid, self.port)
    }
}

/// What is in the name of the port by which a switch reduces data.
const AGGREGATION: &str = "Aggregation Node";

impl Vertex {
    /// Whether it is a port of a router, or of what a switch has to reduce data (SHARP).
    pub(super) fn is_of_no_host(&self) -> bool {
        self.is_router || self.name.contains(AGGREGATION)
    }
}

impl FabricGraph {
    /// Number of switches.
    #[must_use]
    pub fn switch_count(&self) -> usize {
        self.switches.len()
    }

    /// Number of ports of hosts.
    #[must_use]
    pub fn port_count(&self) -> usize {
        self.ports.len()
    }

    /// Number of links.
    #[must_use]
    pub fn link_count(&self) -> usize {
        self.links.len() / 2
    }

    /// Number of lines that were warnings of the tools: the fabric may be incomplete.
    #[must_use]
    pub fn warning_count(&self) -> usize {
        self.warnings
    }

    /// Number of ports of switches that are not connected.
    #[must_use]
    pub fn unconnected(&self) -> usize {
        let all: usize = self.switches.values().map(|switch| usize::from(switch.ports)).sum();
        let used = self.links.keys().filter(|end| self.switches.contains_key(&end.guid)).count();
        all.saturating_sub(used)
    }

    /// The switch that a port of a host is connected to.
    pub(crate) fn leaf_of(&self, port: u64) -> Option<u64> {
        let own =
            self.links.range(End { guid: port, port: 0 }..).take_while(|it| it.0.guid == port);
        let peers = own.map(|(_, (peer, _))| peer.guid);
        peers.into_iter().find(|guid| self.switches.contains_key(guid))
    }

    /// Gives switches and ports other names, by their GUIDs. Counterpart: the node name map of
    /// InfiniBand's tools.
    pub fn rename(&mut self, names: &BTreeMap<u64, String>) {
        let all = self.switches.iter_mut().chain(&mut self.ports);
        for (guid, vertex) in all {
            let name = names.get(guid).or_else(|| names.get(&vertex.adapter));
            name.into_iter().for_each(|name| vertex.name.clone_from(name));
        }
    }

    /// Connects a port of a host to a switch, in both directions.
    ///
    /// # Errors
    ///
    /// [`FabricErrorKind::Twice`] if one of them is connected already.
    pub fn link_host(
        &mut self,
        host: End,
        switch: End,
        name: &str,
        mbps: Option<u32>,
    ) -> Result<(), FabricError> {
        let vertex = self.vertex(EndKind::Host, host.guid);
        name.clone_into(&mut vertex.name);
        vertex.ports = vertex.ports.max(host.port);
        let vertex = self.vertex(EndKind::Switch, switch.guid);
        vertex.ports = vertex.ports.max(switch.port);
        self.connect(0, host, switch, mbps)?;
        self.connect(0, switch, host, mbps)
    }

    /// Connects two switches, in both directions.
    ///
    /// # Errors
    ///
    /// [`FabricErrorKind::Twice`] if one of the ports is connected already.
    pub fn link_switches(
        &mut self,
        one: End,
        other: End,
        mbps: Option<u32>,
    ) -> Result<(), FabricError> {
        for end in [one, other] {
            let vertex = self.vertex(EndKind::Switch, end.guid);
            vertex.ports = vertex.ports.max(end.port);
        }
        self.connect(0, one, other, mbps)?;
        self.connect(0, other, one, mbps)
    }

    /// The vertex with a GUID; made if it is new.
    pub(super) fn vertex(&mut self, kind: EndKind, guid: u64) -> &mut Vertex {
        let all = match kind {
            EndKind::Switch => &mut self.switches,
            EndKind::Host | EndKind::Router => &mut self.ports,
        };
        let vertex = all.entry(guid).or_default();
        vertex.is_router |= kind == EndKind::Router;
        vertex
    }

    /// Starts another file; its name is for errors.
    pub(super) fn begin(&mut self, file: &str) {
        self.files.push(file.to_owned());
    }

    /// Says that a line of the file that was begun last connects two ports.
    pub(super) fn connect(
        &mut self,
        line: usize,
        from: End,
        to: End,
        mbps: Option<u32>,
    ) -> Result<(), FabricError> {
        let file = self.files.len().saturating_sub(1);
        if from == to {
            let kind = FabricErrorKind::ToItself { port: from.to_string() };
            return Err(Located::in_line(self.name_of(file), line, kind));
        }
        match self.links.insert(from, (to, mbps)) {
            Some((before, _)) if before != to => {
                let [from, one, other] = [from, before, to].map(|end| end.to_string());
                let kind = FabricErrorKind::Twice { from, one, other };
                Err(Located::in_line(self.name_of(file), line, kind))
            }
            _ => {
                self.lines.insert(from, (file, line));
                Ok(())
            }
        }
    }

    fn name_of(&self, file: usize) -> &str {
        self.files.get(file).map_or("", String::as_str)
    }

    /// Checks that each link is there in both directions, and that no GUID is that of a switch and
    /// of a port.
    pub(super) fn check(&self) -> Result<(), FabricError> {
        if let Some(guid) = self.switches.keys().find(|guid| self.ports.contains_key(guid)) {
            let mut ends = self.lines.range(End { guid: *guid, port: 0 }..);
            let (file, line) = ends.next().map(|(_, place)| *place).unwrap_or_default();
            let kind = FabricErrorKind::Both { guid: *guid };
            return Err(Located::in_line(self.name_of(file), line, kind));
        }
        for (from, (to, _)) in &self.links {
            if self.links.get(to).map(|(back, _)| back) != Some(from) {
                let (file, line) = self.lines.get(from).copied().unwrap_or_default();
                let kind = FabricErrorKind::OneWay { from: from.to_string(), to: to.to_string() };
                return Err(Located::in_line(self.name_of(file), line, kind));
            }
        }
        Ok(())
    }
}
