/// What the journal found of earlier runs when it was opened.
package struct JournalRecovery: Sendable, Equatable {
    /// Files of the log with records that are still needed.
    package var segments = 0
    /// Groups that a sink has yet to take, or that are retained.
    package var groups = 0
    /// The bytes of their payloads.
    package var bytes = 0
    /// Keys in the deduplication window.
    package var windowKeys = 0
    /// Incomplete records of a commit that was never acknowledged, now erased.
    package var tornRecords = 0
    /// Ranges of groups that are damaged or missing; forwarders report each.
    package var losses = 0
    /// How long opening took.
    package var duration = Duration.zero
}
