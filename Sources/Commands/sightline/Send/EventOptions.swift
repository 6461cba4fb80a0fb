internal import ArgumentParser
internal import SightlineProtos

/// The names of consent on the command line.
enum ConsentName: String, ExpressibleByArgument, CaseIterable {
    case optedIn = "opted-in"
    case optedOut = "opted-out"
    case unknown

    var consent: Sightline_V1_Consent {
        switch self {
        case .optedIn: .optedIn
        case .optedOut: .optedOut
        case .unknown: .unknown
        }
    }
}

/// The fields of an event besides its payload, for events made from payloads.
struct EventOptions: ParsableArguments {
    @Flag(help: "Campaign Classic has created the delivery, not Standard.")
    var classic = false

    @Option(help: "The recipient's consent: opted-in, opted-out or unknown.")
    var consent: ConsentName?

    @Option(help: "The app's bundle id or package name.")
    var app: String?

    @Option(help: "The recipient's opaque id.")
    var subject: String?

    @Option(help: "The id of the action button that was chosen.")
    var button: String?

    /// The options that were given.
    var names: [String] {
        [
            ("--classic", self.classic), ("--consent", self.consent != nil),
            ("--app", self.app != nil), ("--subject", self.subject != nil),
            ("--button", self.button != nil),
        ].filter(\.1).map(\.0)
    }

    /// Sets the fields of an event with a push interaction.
    func apply(to event: inout Sightline_V1_TrackingEvent) {
        if self.classic { event.push.product = .classic }
        if let consent { event.consent = consent.consent }
        if let app { event.appID = app }
        if let subject { event.subjectID = subject }
        if let button { event.push.actionIdentifier = button }
    }
}
