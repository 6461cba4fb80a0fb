package import ConfigurationKeys

/// The rules' configurable choices.
package struct Policy: KeyedConfiguration, Equatable {
    /// Whether unspecified consent counts as opted in (D22).
    package var trackUnspecifiedConsent = true
    /// Whether test messages are recorded (D28).
    package var recordTestMessages = false

    /// Creates the default policy.
    package init() {}

    /// Whether an event's recipient allows keeping its delivery (D22, D23, D27, D40).
    func names(_ event: EventView) -> Bool {
        if event.inApp.dataCollectionEnabled == false { return false }
        return event.consent == 1 || event.consent == 0 && self.trackUnspecifiedConsent
    }

    /// The keys `rules.*`.
    package static let keys: [Key] = [
        .init(
            "rules.default_consent", .choice("opted_in", of: ["opted_in", "unknown"]),
            "the consent of events that say nothing of it"
        ) { text, policy in policy.trackUnspecifiedConsent = text == "opted_in" },
        .flag(
            "rules.record_test_messages", \.recordTestMessages,
            "whether in-app test messages count"),
    ]
}
