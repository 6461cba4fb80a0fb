internal import Crypto
internal import Foundation
internal import NIOCore

/// The live page in a single document, with the policy that lets a browser run only its own script.
struct AdminPage: Sendable {
    /// The HTML, with style and script inlined.
    let bytes: ByteBuffer
    /// Allows the page's own style and script, by hash, and requests to this server.
    let contentSecurityPolicy: String

    /// Assembles the page from the embedded files.
    init() {
        let style = Self.text(PackageResources.page_css)
        let script = Self.text(PackageResources.plots_js) + Self.text(PackageResources.page_js)
        let page = Self.text(PackageResources.page_html)
            .replacing(Self.styleLink, with: "<style>\(style)</style>")
            .replacing(Self.plotsLink, with: "")
            .replacing(Self.scriptLink, with: "<script>\(script)</script>")
        self.bytes = ByteBuffer(string: page)
        self.contentSecurityPolicy = """
            default-src 'none'; style-src '\(Self.hash(style))'; \
            script-src '\(Self.hash(script))'; connect-src 'self'; img-src data:; \
            base-uri 'none'; form-action 'none'; frame-ancestors 'none'
            """
    }

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
