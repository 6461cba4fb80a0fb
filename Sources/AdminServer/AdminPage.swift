// The live page: one file, made of three that are embedded in the program.
internal import Crypto
internal import Foundation
internal import NIOCore

/// The page as it is sent, and the policy by which a browser runs that script and no other.
struct AdminPage: Sendable {
    /// HTML with its style and its script in it.
    let bytes: ByteBuffer
    /// What the page may load: its own style and script, by their hashes, and our own figures.
    let contentSecurityPolicy: String

    /// Puts the page together.
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

    // The lines by which page.html finds its parts where it is opened as a file.
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
