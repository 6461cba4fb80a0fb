/// The limits of a span; what exceeds them is omitted, and counted in the span.
package struct SpanLimits: Sendable, Equatable {
    /// The maximum attributes of a span, event or link. Default 128.
    package var attributes = 128
    /// The maximum characters of a text attribute; longer texts are truncated. Default 4096.
    package var textCharacters = 4096
    /// The maximum events of a span. Default 128.
    package var events = 128
    /// The maximum links of a span. Default 128.
    package var links = 128

    /// Creates the default limits.
    package init() {}
}
