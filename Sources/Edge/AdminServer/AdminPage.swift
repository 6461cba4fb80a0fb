internal import Crypto
internal import Foundation
internal import NIOCore

/// The live page in a single document, with the policy that lets a browser run only its own script.
struct AdminPage: Sendable {
    /// The HTML, with style and script inlined.
    let bytes: ByteBuffer
    /// Allows the page's own style and script, by hash, requests to this server and those of
    /// test events to the HTTP port.
    let contentSecurityPolicy: String

    /// Assembles the page from the embedded files.
    ///
    /// - Parameter door: the HTTP port's URL, to which the page sends test events; nil for a page
    ///   that sends none and has nothing of them.
    init(testEventsAt door: String? = nil) {
        var style = Self.text(PackageResources.page_css)
        var script = Self.text(PackageResources.plots_js) + Self.text(PackageResources.page_js)
        var section = ""
        if let door {
            style += Self.text(PackageResources.send_css)
            script += Self.text(PackageResources.send_js)
            section = Self.text(PackageResources.send_html)
                .replacing(Self.doorField, with: "data-door=\"\(door)\"")
        }
        let page = Self.text(PackageResources.page_html)
            .replacing(Self.sectionMark, with: section)
            .replacing(Self.styleLink, with: "<style>\(style)</style>")
            .replacing(Self.plotsLink, with: "")
            .replacing(Self.scriptLink, with: "<script>\(script)</script>")
        self.bytes = ByteBuffer(string: page)
        let servers = ["'self'", door].compactMap(\.self).joined(separator: " ")
        self.contentSecurityPolicy = """
            default-src 'none'; style-src '\(Self.hash(style))'; \
            script-src '\(Self.hash(script))'; connect-src \(servers); img-src data:; \
            base-uri 'none'; form-action 'none'; frame-ancestors 'none'
            """
    }

    // Where send.html stands, and its attribute for the HTTP port's URL.
    private static let sectionMark = "  <!-- send.html -->\n"
    private static let doorField = #"data-door="""#

    // The lines that load the parts when page.html is opened as a file. They are replaced by the
    // parts.
    private static let styleLink = #"<link rel="stylesheet" href="page.css">"#
    private static let plotsLink = #"<script src="plots.js"></script>"#
    private static let scriptLink = #"<script src="page.js"></script>"#

    private static func text(_ resource: [UInt8]) -> String {
        String(decoding: resource, as: UTF8.self)
    }

    private static func hash(_ text: String) -> String {
        "sha256-" + Data(SHA256.hash(data: Data(text.utf8))).base64EncodedString()
    }
}
