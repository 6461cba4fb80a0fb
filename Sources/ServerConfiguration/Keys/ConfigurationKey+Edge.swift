// The keys of compression, health and reflection.

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
