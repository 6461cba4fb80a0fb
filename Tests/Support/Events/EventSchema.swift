// The fields of TrackingEvent as the generator knows them, by number and form.

/// A field of a message: its number on the wire, and what it holds.
package struct SchemaField: Sendable {
    package let number: UInt64
    package let form: Form

    /// What a field holds.
    package indirect enum Form: Sendable {
        case string
        /// Bytes that are a text in all events but a few.
        case bytes
        case number
        case message([SchemaField])
        case map

        /// How it is written on the wire.
        package var wireType: UInt32 {
            if case .number = self { 0 } else { 2 }
        }
    }

    init(_ number: UInt64, _ form: Form) {
        self.number = number
        self.form = form
    }
}

/// The contract's messages. What is listed more than once is generated more often.
package enum EventSchema {
    /// TrackingEvent.
    package static let event: [SchemaField] = [
        SchemaField(1, .string), SchemaField(2, .message(timestamp)), SchemaField(3, .string),
        SchemaField(4, .number), SchemaField(5, .string), SchemaField(6, .number),
        SchemaField(7, .message(trace)), SchemaField(10, .message(push)),
        SchemaField(10, .message(push)), SchemaField(11, .message(action)),
        SchemaField(12, .message(inApp)), SchemaField(12, .message(inApp)),
        SchemaField(13, .message([SchemaField(1, .string), SchemaField(2, .string)])),
        SchemaField(14, .message(send)), SchemaField(15, .string), SchemaField(16, .string),
        SchemaField(17, .string), SchemaField(18, .number),
    ]

    private static let timestamp = [SchemaField(1, .number), SchemaField(2, .number)]
    private static let trace = [SchemaField(1, .string), SchemaField(2, .string)]

    private static let push: [SchemaField] = [
        SchemaField(1, .message(apns)), SchemaField(1, .message(apns)),
        SchemaField(2, .message(fcm)), SchemaField(2, .message(fcm)), SchemaField(3, .number),
        SchemaField(4, .string), SchemaField(5, .number), SchemaField(6, .number),
        SchemaField(7, .message([SchemaField(1, .bytes)])),
        SchemaField(7, .message([SchemaField(1, .bytes)])),
    ]

    private static let apns: [SchemaField] = [
        SchemaField(1, .message(aps)), SchemaField(2, .string), SchemaField(3, .string),
        SchemaField(4, .string), SchemaField(5, .string), SchemaField(6, .string),
        SchemaField(7, .map), SchemaField(7, .map),
    ]

    private static let aps: [SchemaField] = [
        SchemaField(1, .message([SchemaField(1, .string), SchemaField(2, .string)])),
        SchemaField(2, .number), SchemaField(3, .string), SchemaField(4, .string),
        SchemaField(5, .number), SchemaField(6, .number), SchemaField(6, .number),
        SchemaField(7, .map), SchemaField(7, .map),
    ]

    private static let fcm: [SchemaField] = [
        SchemaField(1, .string), SchemaField(2, .string), SchemaField(3, .string),
        SchemaField(4, .message(fcmData)), SchemaField(4, .message(fcmData)),
    ]

    private static let fcmData: [SchemaField] =
        (1...9).map { SchemaField($0, .string) } + [
            SchemaField(10, .number), SchemaField(11, .map), SchemaField(11, .map),
        ]

    private static let action: [SchemaField] = [
        SchemaField(1, .string), SchemaField(2, .string), SchemaField(3, .number),
        SchemaField(4, .string), SchemaField(5, .number),
    ]

    private static let send: [SchemaField] = [
        SchemaField(1, .string), SchemaField(2, .string), SchemaField(3, .number),
        SchemaField(4, .number), SchemaField(5, .number), SchemaField(6, .string),
        SchemaField(7, .string), SchemaField(8, .number), SchemaField(9, .number),
    ]

    private static let inApp: [SchemaField] = [
        SchemaField(1, .string), SchemaField(2, .string), SchemaField(3, .number),
        SchemaField(4, .map), SchemaField(4, .map), SchemaField(5, .string),
        SchemaField(6, .number), SchemaField(7, .number),
        SchemaField(10, .message([])),
        SchemaField(11, .message([SchemaField(1, .string), SchemaField(2, .string)])),
        SchemaField(12, .message([SchemaField(1, .number)])),
        SchemaField(13, .message(displayError)), SchemaField(13, .message(displayError)),
        SchemaField(14, .message([])), SchemaField(15, .message([])),
        SchemaField(8, .number), SchemaField(9, .number),
    ]

    private static let displayError: [SchemaField] = [
        SchemaField(1, .number), SchemaField(2, .number), SchemaField(3, .string),
    ]
}
