// How much one span may hold.

/// The most that a span keeps; what goes beyond is left out, and counted in the span.
package struct SpanLimits: Sendable, Equatable {
    /// Attributes of a span, of an event and of a link. Default 128.
    package var attributes = 128
    /// Characters of an attribute's text; the rest is cut. Default 4096.
    package var textCharacters = 4096
    /// Events of a span. Default 128.
    package var events = 128
    /// Links of a span. Default 128.
    package var links = 128

    /// Every value at its default.
    package init() {}
}
