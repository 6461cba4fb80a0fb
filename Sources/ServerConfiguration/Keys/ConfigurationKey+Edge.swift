// The keys of compression, health and reflection.
internal import HTTP2Edge

extension ConfigurationKey {
    /// The keys of compression, health and reflection.
    static let edge: [ConfigurationKey] = [
        .flag(
            "compression.enabled", \.edge.isCompressionEnabled,
            "whether requests may be compressed (gzip, deflate), and answers are where asked for"),
        .number(
            "compression.max_streams", \.edge.maxCompressedStreams, 0...100_000,
            "streams whose answers are compressed at once, 270 KB each; others get them plain",
            unit: "streams"),
        .number(
            "health.max_watchers", \.maxHealthWatchers, 0...10_000,
            "watches of health that may be open at once", unit: "watches"),
        .flag(
            "reflection.enabled", \.isReflectionEnabled,
            "whether clients may ask what the services look like"),
    ]
}
