package import ConfigurationKeys

/// The limits of a span. Anything beyond them is omitted, and counted in the span.
package struct SpanLimits: KeyedConfiguration, Equatable {
    /// The maximum attributes of a span, event or link.
    package var attributes = 128
    /// The maximum characters of a text attribute; longer texts are truncated.
    package var textCharacters = 4096
    /// The maximum events of a span.
    package var events = 128
    /// The maximum links of a span.
    package var links = 128

    /// Creates the default limits.
    package init() {}

    /// Keys in the section `telemetry.traces`.
    package static let keys: [Key] = [
        .number(
            "telemetry.traces.max_attributes", \.attributes, 0...10_000,
            "attributes of a span, an event or a link"),
        .number(
            "telemetry.traces.max_text", \.textCharacters, 0...1_000_000,
            "characters of an attribute's text", unit: "characters"),
        .number("telemetry.traces.max_events", \.events, 0...10_000, "events of a span"),
        .number(
            "telemetry.traces.max_links", \.links, 0...10_000,
            "links of a span: of a request to its events' traces, of a delivery to its requests"),
    ]
}
