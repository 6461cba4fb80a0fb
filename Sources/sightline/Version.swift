// The one place that holds the version.

/// This program's version.
enum Version {
    static let text = "0.1.0"
}
