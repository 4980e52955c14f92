//! Pages in a real browser: Chromium without a screen, steered by ChromeDriver over WebDriver.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use topobroker_draw::{DrawnRank, Fold, NodeOptions, Units, cluster, html, links, node, svg};
use topobroker_reader::ObjectType;
use topobroker_reader::cluster::Cluster;
use topobroker_reader::links::SwitchModel;
use topobroker_sample_clusters::grouped_by_fabric;
use topobroker_samples::{machines, shared, skip, synthetic, topology_of, topology_of_xml};

/// A browser that ends with the test.
struct Browser {
    driver: Child,
    port: u16,
    session: String,
    _profile: tempfile::TempDir,
}

impl Browser {
    /// `None`, and says so, if there is no Chromium here.
    fn start() -> Option<Self> {
        let profile = tempfile::tempdir().unwrap();
        if Command::new("chromedriver").arg("--version").output().is_err() {
            skip(format_args!("no chromedriver: install chromium-driver"));
            return None;
        }
        let driver = (0..5).find_map(|_| driver(profile.path()));
        let (driver, port) = driver.expect("a port of chromedriver");
        let folder = format!("--user-data-dir={}", profile.path().display());
        let arguments = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--no-first-run",
            "--disable-sync",
            "--disable-background-networking",
            "--disable-component-update",
            "--window-size=1400,900",
            &folder,
        ];
        let mut browser = Self { driver, port, session: String::new(), _profile: profile };
        // On a busy machine a page of all reference machines takes a minute.
        let wanted = json!({ "capabilities": { "alwaysMatch": {
            "timeouts": { "script": 240_000 },
            "goog:chromeOptions": { "args": arguments },
            "goog:loggingPrefs": { "browser": "ALL" },
        } } });
        let session = browser.ask("/session", &wanted);
        browser.session = format!("/session/{}", session["sessionId"].as_str().unwrap());
        Some(browser)
    }

    fn ask(&self, path: &str, body: &Value) -> Value {
        let body = body.to_string();
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let length = body.len();
        write!(
            stream,
            "POST {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
             Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
        )
        .unwrap();
        // The driver keeps connections open.
        stream.set_read_timeout(Some(Duration::from_secs(240))).unwrap();
        let mut answer = BufReader::new(stream);
        let mut length = 0;
        loop {
            let mut line = String::new();
            answer.read_line(&mut line).unwrap();
            match line.trim_end().to_ascii_lowercase().split_once(':') {
                Some(("content-length", value)) => length = value.trim().parse().unwrap(),
                None if line.trim_end().is_empty() => break,
                _ => {}
            }
        }
        let mut content = vec![0; length];
        answer.read_exact(&mut content).unwrap();
        let answer: Value = serde_json::from_slice(&content).unwrap();
        assert!(answer["value"]["error"].is_null(), "{path}: {answer}");
        answer["value"].clone()
    }

    fn open(&self, page: &Path) {
        let url = format!("file://{}", page.display());
        self.ask(&format!("{}/url", self.session), &json!({ "url": url }));
    }

    /// What a script returns in the page.
    fn run(&self, script: &str) -> Value {
        let body = json!({ "script": script, "args": [] });
        self.ask(&format!("{}/execute/sync", self.session), &body)
    }

    /// Presses keys, one after the other.
    fn press(&self, keys: &[&str]) {
        let both = |key: &&str| {
            [json!({ "type": "keyDown", "value": key }), json!({ "type": "keyUp", "value": key })]
        };
        let actions: Vec<Value> = keys.iter().flat_map(both).collect();
        let body = json!({ "actions": [{ "type": "key", "id": "keys", "actions": actions }] });
        self.ask(&format!("{}/actions", self.session), &body);
    }

    /// What the page wrote to its console.
    fn console(&self) -> Value {
        self.ask(&format!("{}/se/log", self.session), &json!({ "type": "browser" }))
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Closes Chromium; the driver alone would leave it.
        if let Ok(mut stream) = TcpStream::connect(("127.0.0.1", self.port)) {
            let _ = write!(stream, "DELETE {} HTTP/1.1\r\nHost: localhost\r\n\r\n", self.session);
            let _ = stream.set_read_timeout(Some(Duration::from_secs(10)));
            let _ = stream.read(&mut [0; 64]);
        }
        // A driver that is busy has closed nothing.
        let group = format!("-{}", self.driver.id());
        let _ = Command::new("kill").args(["-KILL", "--", &group]).status();
        let _ = self.driver.wait();
    }
}

/// A driver, and its port; `None` if it has found none, which happens if others start at the same
/// time.
fn driver(profile: &Path) -> Option<(Child, u16)> {
    // Chromium makes its runtime folder, wherever it is to be.
    let mut driver = Command::new("chromedriver");
    driver.arg("--port=0").env("XDG_RUNTIME_DIR", profile).stdout(Stdio::piped());
    let mut driver = driver.process_group(0).spawn().unwrap();
    let printed = BufReader::new(driver.stdout.take().unwrap());
    let mut ports = printed.lines().map_while(Result::ok).filter_map(|line| {
        line.split_once("successfully on port ")?.1.trim_end_matches('.').parse().ok()
    });
    let Some(port) = ports.next() else {
        driver.wait().unwrap();
        return None;
    };
    // What it prints later is not read, and must not block it.
    std::thread::spawn(move || ports.for_each(|_| {}));
    Some((driver, port))
}

const UP: &str = "\u{e013}";
const DOWN: &str = "\u{e015}";
const RIGHT: &str = "\u{e014}";
const ENTER: &str = "\u{e007}";
const ESCAPE: &str = "\u{e00c}";

#[test]
fn the_page_is_searched_walked_and_zoomed_by_keyboard_without_an_error() {
    let Some(browser) = Browser::start() else { return };
    let mut description = synthetic("Package:2 Core:8 PU:2");
    description.objects[0].infos.push(("HostName".to_owned(), "node17".to_owned()));
    let topology = topology_of(&description);
    let rank = |rank: u32| DrawnRank {
        job: "j".to_owned(),
        rank,
        pus: Some([2 * rank, 2 * rank + 1].into_iter().collect()),
    };
    let options = NodeOptions { ranks: (0..16).map(rank).collect(), ..NodeOptions::default() };
    let page = tempfile::Builder::new().suffix(".html").tempfile().unwrap();
    std::fs::write(page.path(), html(&node(topology, &options, Units::PIXELS))).unwrap();
    browser.open(page.path());

    // By rank: rank 1 is not rank 10.
    let found = "return [...document.querySelectorAll('.found title')].map(it => it.textContent.split('\\n')[0])";
    browser.press(&["/", "r", "a", "n", "k", " ", "1"]);
    let expected = ["PU L#2 (P#2), rank 1", "PU L#3 (P#3), rank 1", "rank 1: PUs P#2-3"];
    assert_eq!(browser.run(found), json!(expected));
    browser.press(&[ENTER]);
    assert_eq!(browser.run("return count.textContent"), "2 of 3");
    assert_eq!(browser.run("return facts.textContent"), "PU L#3 (P#3), rank 1");
    // By OS index and by host.
    browser.press(&[ESCAPE, "/", "P", "#", "1", "7"]);
    assert_eq!(browser.run(found), json!(["PU L#17 (P#17), rank 8"]));
    browser.press(&[ESCAPE, "/", "n", "o", "d", "e", "1", "7"]);
    assert_eq!(browser.run(found), json!(["Host: node17"]));
    browser.press(&[ESCAPE, "/", "x", "y", "z"]);
    assert_eq!(browser.run("return count.textContent"), "nothing found");

    // What is found is where one goes on.
    let focused = "return document.activeElement.getAttribute('aria-label')";
    browser.press(&[ESCAPE, "/", "P", "#", "1", "7", ESCAPE]);
    assert_eq!(browser.run(focused), "PU L#17 (P#17), rank 8");
    // By arrows: machine, its NUMA node, the package next to it, its first core, and back.
    browser.press(&["\u{e011}", DOWN]);
    assert!(browser.run(focused).as_str().unwrap().starts_with("NUMANode L#0"));
    browser.press(&[RIGHT, DOWN]);
    assert!(browser.run(focused).as_str().unwrap().starts_with("Core L#0"));
    browser.press(&[UP]);
    assert!(browser.run(focused).as_str().unwrap().starts_with("Package L#0"));

    let contrast = "const light = it => { const part = it.match(/\\d+/g).slice(0, 3).map(x => { x /= 255; \
         return x <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4; }); \
         return 0.2126 * part[0] + 0.7152 * part[1] + 0.0722 * part[2]; }; \
         return Math.min(...[...document.querySelectorAll('svg g[id]')].map(box => { \
         const one = light(getComputedStyle(box.querySelector('text')).fill); \
         const other = light(getComputedStyle(box.querySelector('rect')).fill); \
         return (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05); }))";
    assert!(browser.run(contrast).as_f64().unwrap() >= 4.5);
    let width = "return document.querySelector('svg').getBoundingClientRect().width";
    browser.press(&["0"]);
    let before = browser.run(width).as_f64().unwrap();
    browser.press(&["+"]);
    assert!(browser.run(width).as_f64().unwrap() > before * 1.2);
    browser.press(&["0"]);
    let after = browser.run(width).as_f64().unwrap();
    assert!((after - before).abs() < 1.0, "{before} {after}");

    let ground = "return getComputedStyle(document.body).backgroundColor";
    let light = browser.run(ground);
    browser.run("document.getElementById('theme').click()");
    assert_ne!(browser.run(ground), light);
    assert!(browser.run(contrast).as_f64().unwrap() >= 4.5);
    // Every box has a name, and the page asks for nothing.
    let unnamed = "return document.querySelectorAll('svg g[id]:not([aria-label])').length";
    assert_eq!(browser.run(unnamed), 0);
    let asked = "return performance.getEntriesByType('resource').length";
    assert_eq!(browser.run(asked), 0);
    assert_eq!(browser.console(), json!([]));
}

#[test]
fn what_is_not_drawn_is_found_in_the_box_that_stands_for_it() {
    let Some(browser) = Browser::start() else { return };
    let topology = topology_of(&synthetic("Package:4 Core:64 PU:2"));
    let page = tempfile::Builder::new().suffix(".html").tempfile().unwrap();
    let picture = node(topology, &NodeOptions::default(), Units::PIXELS);
    std::fs::write(page.path(), html(&picture)).unwrap();
    browser.open(page.path());
    let found = "return [...document.querySelectorAll('.found title')].map(it => it.textContent.split('\\n')[0])";
    for (keys, expected) in
        [("pu l#7", "... 62 more"), ("core l#3", "... 62 more"), ("p#200", "... 2 more")]
    {
        let keys: Vec<String> = keys.chars().map(String::from).collect();
        let keys: Vec<&str> = ["/"].into_iter().chain(keys.iter().map(String::as_str)).collect();
        browser.press(&keys);
        assert_eq!(browser.run(found), json!([expected]));
        let said = browser.run("return count.textContent");
        assert_eq!(said, json!(format!("not drawn: in \"{expected}\"")));
        browser.press(&[ESCAPE]);
    }
    browser.press(&["/", "p", "u", " ", "l", "#", "0"]);
    assert!(browser.run("return scale").as_f64().unwrap() >= 0.8, "what is found can be read");
    assert_eq!(browser.console(), json!([]));
}

#[test]
fn no_text_leaves_its_box_on_any_machine_and_no_figure_of_a_link_lies_on_another_or_on_a_box() {
    let (Some(browser), Some(shared)) = (Browser::start(), shared()) else { return };
    let mut names = Vec::new();
    // All in one page, because opening a page takes longer than measuring it.
    let mut page = tempfile::Builder::new().suffix(".html").tempfile().unwrap();
    writeln!(page, "<!doctype html><meta charset=utf-8>").unwrap();
    for machine in machines(&shared) {
        let topology = topology_of_xml(machine.path);
        let pus = topology.objects_with_type(ObjectType::PU).take(48);
        let ranks = (0..).zip(pus).map(|(rank, pu)| DrawnRank {
            job: "j".to_owned(),
            rank,
            pus: pu.cpuset(),
        });
        let options = NodeOptions { ranks: ranks.collect(), ..NodeOptions::default() };
        page.write_all(svg(&node(topology, &options, Units::PIXELS)).as_bytes()).unwrap();
        let graph = links(&topology.links(SwitchModel::One).unwrap(), Units::PIXELS);
        page.write_all(svg(&graph).as_bytes()).unwrap();
        names.extend([machine.name.clone(), machine.name + ", links"]);
    }
    if let Some(avakas) = grouped_by_fabric("avakas") {
        let avakas = cluster(&Cluster::open(&avakas).unwrap(), Fold::Large, Units::PIXELS).unwrap();
        page.write_all(svg(&avakas).as_bytes()).unwrap();
        names.push("avakas".to_owned());
    }
    browser.open(page.path());
    // For each picture: how many texts have a width in the browser's font, and those that leave their
    // boxes, or lie on others, by more than a pixel.
    let script = "const DESCENT = 3; /* Digits have none. */ \
         const meet = (a, b) => a.x + 1 < b.x + b.width && b.x + 1 < a.x + a.width && \
                                         a.y + 1 < b.y + b.height && b.y + 1 < a.y + a.height; \
         return [...document.querySelectorAll('svg')].map(picture => { \
         let texts = 0; const out = []; \
         if (picture.getAttribute('aria-label').startsWith('Links of')) { \
             const taken = [...picture.querySelectorAll('g[id] rect')].map(it => it.getBBox()); \
             for (const figure of picture.querySelectorAll('g:not([id]) text')) { \
                 const all = figure.getBBox(); \
                 const it = { x: all.x, y: all.y, width: all.width, height: all.height - DESCENT }; \
                 if (taken.some(other => meet(it, other))) out.push(figure.textContent); \
                 taken.push(it); \
             } \
         } \
         for (const box of picture.querySelectorAll('g[id]')) { \
             const outer = box.querySelector('rect').getBBox(); \
             for (const text of box.querySelectorAll('text')) { \
                 const it = text.getBBox(); \
                 texts += it.width > 0; \
                 if (it.x < outer.x - 1 || it.x + it.width > outer.x + outer.width + 1 || \
                     it.y < outer.y - 1 || it.y + it.height > outer.y + outer.height + 1) \
                     out.push(text.textContent); \
             } \
         } \
         return [texts, out]; })";
    let found = browser.run(script);
    let found = found.as_array().unwrap();
    assert_eq!(found.len(), names.len());
    for (picture, name) in found.iter().zip(names) {
        assert!(picture[0].as_u64().unwrap() > 0, "{name}: no text has a width");
        assert_eq!(picture[1], json!([]), "{name}");
    }
}
