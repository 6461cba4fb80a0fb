/// Who is named in an address, and by what password: `user:secret@`.
package enum UserInfo {
    /// What stands for a secret.
    package static let mask = "•••"

    /// A URL, a HOST:PORT or a list of them, as an error may show it. What is wrong may be
    /// anything, so rather too much is hidden.
    package static func hidden(in text: String) -> String {
        // With a password, which may have any character; or alone before a host and its port.
        let bare = #/[^\s'",]+:(?!//|\s)[^'"\n]*@|[^\s'",/]+@(?=[^\s'",/@]+:\d)/#
        return text.replacing(#/://[^'"\n]*@/#, with: "://\(Self.mask)@")
            .replacing(bare, with: "\(Self.mask)@")
    }
}
