//! HTML: one file that asks for nothing else.

use crate::picture::Picture;
use crate::svg::{escaped, svg};

/// Writes a picture as a page that can be zoomed and searched, also by keyboard. It is one file,
/// and loads nothing.
#[must_use]
pub fn html(picture: &Picture) -> String {
    let (title, hint) = (escaped(&picture.title), picture.hint);
    let (style, script) = (include_str!("html/page.css"), include_str!("html/page.js"));
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\">\n\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n\
         <title>{title}</title>\n<style>\n{style}</style>\n</head>\n<body>\n\
         <header><h1>{title}</h1>\n\
         <form role=\"search\"><label>Find <input id=\"find\" type=\"search\" \
         placeholder=\"{hint}\"></label>\n\
         <output id=\"count\" aria-live=\"polite\"></output></form>\n\
         <button id=\"smaller\" aria-label=\"zoom out\">-</button>\n\
         <button id=\"larger\" aria-label=\"zoom in\">+</button>\n\
         <button id=\"fit\">fit</button>\n<button id=\"theme\">dark</button></header>\n\
         <main id=\"picture\" tabindex=\"-1\">\n{}</main>\n\
         <aside id=\"facts\" role=\"status\" aria-label=\"what is pointed at\">\
         Arrow keys go from box to box, / finds, + and - zoom, 0 fits.</aside>\n\
         <script>\n{script}</script>\n</body>\n</html>\n",
        svg(picture)
    )
}
