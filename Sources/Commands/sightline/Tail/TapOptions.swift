internal import ArgumentParser
internal import SightlineProtos
internal import SwiftProtobuf
internal import TrackingReport
internal import TrackingRules
internal import WireFormat

/// The filters of `tail --target`.
struct TapOptions: ParsableArguments {
    @Option(help: "With --target: events of this tenant; at a unix: socket alone.")
    var tenant: String?

    @Option(help: "With --target: events of this app.")
    var app: String?

    @Option(help: "With --target: events of this delivery or in-app message.")
    var delivery: String?

    @Option(
        help: "With --target: events with this verdict, such as rejected; may be repeated.",
        transform: { text in
            guard let verdict = Verdict(name: text) else {
                throw ValidationError(
                    "\"\(text.printable)\" is no verdict; there are: "
                        + Verdict.allCases.map { "\($0.name)" }.joined(separator: ", "))
            }
            return verdict
        })
    var verdict: [Verdict] = []

    @Option(help: "With --target: the share of events to show, above 0, at most 1.")
    var samplingRatio: Double = 1

    @Flag(help: "With --target: show personal data too.")
    var unmasked = false

    func validate() throws {
        guard self.samplingRatio > 0, self.samplingRatio <= 1 else {
            throw ValidationError(
                "--sampling-ratio \(self.samplingRatio) has to be above 0, and 1 at most.")
        }
    }

    /// Whether any of them is set.
    var isSet: Bool {
        self.tenant != nil || self.app != nil || self.delivery != nil || !self.verdict.isEmpty
            || self.samplingRatio != 1 || self.unmasked
    }

    /// The request.
    var request: Sightline_V1_TapRequest {
        .with { request in
            request.appID = self.app ?? ""
            request.deliveryID = self.delivery ?? ""
            request.verdicts = self.verdict.compactMap { .init(rawValue: Int($0.rawValue)) }
            request.samplingRatio = self.samplingRatio
            request.unmasked = self.unmasked
        }
    }

    /// The same as a query of the admin socket.
    var query: [(name: String, value: String?)] {
        let verdicts = self.verdict.map { "\($0.name)" }.joined(separator: ",")
        return [
            ("sampling_ratio", "\(self.samplingRatio)"), ("tenant", self.tenant),
            ("app_id", self.app), ("delivery_id", self.delivery),
            ("verdicts", verdicts.isEmpty ? nil : verdicts),
            ("unmasked", self.unmasked ? "true" : nil),
        ]
    }
}
