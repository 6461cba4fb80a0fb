// What stands around the service itself: compression, health and reflection.

/// How calls are compressed, and what the server tells of itself.
package struct EdgeConfiguration: Sendable {
    /// Whether requests may be compressed, and answers are for clients that ask. Default true.
    package var isCompressionEnabled = true
    /// Streams whose answers are compressed at once; others are answered plainly. Default 200.
    package var maxCompressedStreams = 200
    /// Watches of health that may be open at once. Default 100.
    package var maxWatchers = 100
    /// Whether clients may ask what the server's services look like. Default true.
    package var isReflectionEnabled = true

    /// Every value at its default.
    package init() {}

    /// Reads the keys.
    init(_ values: ConfigurationValues) {
        self.isCompressionEnabled = values.flag("compression.enabled")
        self.maxCompressedStreams = values.number("compression.max_streams")
        self.maxWatchers = values.number("health.max_watchers")
        self.isReflectionEnabled = values.flag("reflection.enabled")
    }
}

extension ConfigurationKey {
    /// The keys of compression, health and reflection.
    static let edge: [ConfigurationKey] = [
        .init(
            "compression.enabled", .flag(true),
            "whether requests may be compressed (gzip, deflate), and answers are where asked for"),
        .init(
            "compression.max_streams", .number(200, 0...100_000),
            "streams whose answers are compressed at once, 270 KB each; others get them plain",
            unit: "streams"),
        .init(
            "health.max_watchers", .number(100, 0...10_000),
            "watches of health that may be open at once", unit: "watches"),
        .init(
            "reflection.enabled", .flag(true),
            "whether clients may ask what the services look like"),
    ]
}
