/// Where the pages of docs are, for whoever reads of them in a log or an alert.
package enum Documentation {
    /// The URL of a page, as `operations.md#restore`.
    package static func page(_ path: String) -> String {
        "https://github.com/sightline/sightline/blob/main/docs/\(path)"
    }
}
