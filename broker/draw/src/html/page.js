'use strict';
const main = document.getElementById('picture');
const svg = main.querySelector('svg');
const facts = document.getElementById('facts');
const input = document.getElementById('find');
const count = document.getElementById('count');
const boxes = [...svg.querySelectorAll('g[id]')];
const about = box => box.querySelector('title').textContent;
const size = { width: svg.viewBox.baseVal.width, height: svg.viewBox.baseVal.height };
let scale = 1, found = [], at = -1;

for (const box of boxes) {
  box.setAttribute('tabindex', '-1');
  box.setAttribute('role', 'img');
  box.setAttribute('aria-label', about(box).split('\n')[0]);
}
if (boxes.length) boxes[0].setAttribute('tabindex', '0');

function zoom(to) {
  scale = Math.min(8, Math.max(0.05, to));
  svg.style.width = size.width * scale + 'px';
  svg.style.height = size.height * scale + 'px';
}
function fit() {
  zoom(Math.min(1.5, (main.clientWidth - 16) / size.width, Math.max(0.2, (main.clientHeight - 16) / size.height)));
}
function show(box) { facts.textContent = about(box); }
function go(box) {
  if (!box) return;
  boxes.forEach(it => it.setAttribute('tabindex', '-1'));
  box.setAttribute('tabindex', '0');
  box.focus({ preventScroll: true });
  box.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  show(box);
}
function near(box, step) {
  const peers = boxes.filter(it => it.dataset.in === box.dataset.in);
  return peers[peers.indexOf(box) + step];
}
const steps = {
  ArrowUp: box => document.getElementById('b' + box.dataset.in),
  ArrowDown: box => boxes.find(it => 'b' + it.dataset.in === box.id),
  ArrowLeft: box => near(box, -1),
  ArrowRight: box => near(box, 1),
  Home: () => boxes[0],
};

// Whole words count first, so that "rank 1" is not also rank 10.
function search(words) {
  found.forEach(box => box.classList.remove('found'));
  const wanted = words.trim().toLowerCase();
  const text = box => about(box).toLowerCase();
  const edge = letter => letter === undefined || !/[\p{L}\p{N}]/u.test(letter);
  const isWhole = all => {
    for (let from = all.indexOf(wanted); from >= 0; from = all.indexOf(wanted, from + 1)) {
      if (edge(all[from - 1]) && edge(all[from + wanted.length])) return true;
    }
    return false;
  };
  found = wanted ? boxes.filter(box => isWhole(text(box))) : [];
  if (wanted && !found.length) found = boxes.filter(box => text(box).includes(wanted));
  // What a box says is in its label; facts, such as the PUs of a package, come second.
  const named = found.filter(box => isWhole(text(box).split('\n')[0]));
  if (named.length) found = named;
  // What is not drawn is in the facts of the box that stands for it.
  const isInside = wanted && !found.length;
  if (isInside) found = boxes.filter(box => box.classList.contains('more') && standsFor(about(box).toLowerCase(), wanted));
  found.forEach(box => box.classList.add('found'));
  at = 0;
  const said = isInside && found.length ? 'not drawn: in "' + about(found[0]).split('\n')[0] + '"' : found.length + ' found';
  count.textContent = wanted ? (found.length ? said : 'nothing found') : '';
  if (found.length) reveal(found[0]);
}
// Shows a box so that its text can be read.
function reveal(box) {
  if (scale < 0.8) zoom(1);
  box.scrollIntoView({ block: 'center', inline: 'center' });
  show(box);
}
// Whether a line such as "pu l#2-13" or "pu p#1-6,9" has what is looked for: "pu l#7", "l#7" or "p#9".
function standsFor(facts, wanted) {
  const asked = /^(?:(\S+) )?([lp])#(\d+)$/.exec(wanted);
  if (!asked) return false;
  const [, kind, side, number] = asked;
  return facts.split('\n').slice(1).some(line => {
    const list = /^(.+?) ([lp])#([\d,-]+)$/.exec(line);
    if (!list || list[2] !== side || (kind && list[1] !== kind)) return false;
    return list[3].split(',').some(range => {
      const [first, last] = range.split('-').map(Number);
      return range && first <= number && number <= (last === undefined ? first : last);
    });
  });
}
input.addEventListener('input', () => search(input.value));
input.form.addEventListener('submit', event => {
  event.preventDefault();
  if (!found.length) return;
  at = (at + 1) % found.length;
  count.textContent = at + 1 + ' of ' + found.length;
  reveal(found[at]);
});
svg.addEventListener('mouseover', event => {
  const box = event.target.closest('g[id]');
  if (box) show(box);
});
svg.addEventListener('click', event => go(event.target.closest('g[id]')));
main.addEventListener('wheel', event => {
  if (!event.ctrlKey) return;
  event.preventDefault();
  zoom(scale * (event.deltaY < 0 ? 1.15 : 1 / 1.15));
}, { passive: false });
document.addEventListener('keydown', event => {
  if (event.target === input) {
    if (event.key === 'Escape') {
      const hit = found[at] || boxes[0];
      input.value = '';
      search('');
      go(hit);
    }
    return;
  }
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  const box = document.activeElement.closest('svg g[id]');
  const step = steps[event.key];
  if (step) { event.preventDefault(); go(box ? step(box) : boxes[0]); }
  else if (event.key === '/') { event.preventDefault(); input.focus(); }
  else if (event.key === '+') zoom(scale * 1.25);
  else if (event.key === '-') zoom(scale / 1.25);
  else if (event.key === '0') fit();
});
document.getElementById('larger').addEventListener('click', () => zoom(scale * 1.25));
document.getElementById('smaller').addEventListener('click', () => zoom(scale / 1.25));
document.getElementById('fit').addEventListener('click', fit);
const theme = document.getElementById('theme');
const root = document.documentElement;
const isDark = () => (root.dataset.theme || (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')) === 'dark';
const nameTheme = () => { theme.textContent = isDark() ? 'light' : 'dark'; };
theme.addEventListener('click', () => { root.dataset.theme = isDark() ? 'light' : 'dark'; nameTheme(); });
nameTheme();
fit();
