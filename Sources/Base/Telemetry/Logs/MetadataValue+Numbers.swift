package import Logging

extension Logger.MetadataValue {
    /// A number, which JSON records have without quotes.
    package static func number(
        _ number: some BinaryInteger & CustomStringConvertible & Sendable
    ) -> Self { .stringConvertible(number) }

    /// Seconds, to the millisecond.
    package static func seconds(_ duration: Duration) -> Self {
        .stringConvertible((duration / .milliseconds(1)).rounded() / 1000)
    }

    /// Whole milliseconds.
    package static func milliseconds(_ duration: Duration) -> Self {
        .stringConvertible(Int((duration / .milliseconds(1)).rounded()))
    }
}
