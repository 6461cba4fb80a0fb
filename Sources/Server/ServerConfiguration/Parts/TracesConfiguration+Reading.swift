// Where spans are sent, with which attributes, and which traces are recorded: what depends on more
// than one key, or is more than a text.
internal import Telemetry

extension TracesConfiguration {
    /// Reads the lists, the endpoint and the sampler.
    mutating func read(_ values: inout ConfigurationValues) {
        if let list = NameValueList.read(values.text("telemetry.resource_attributes")) {
            self.resource.configured = list
        } else {
            values.refuse("telemetry.resource_attributes", Self.listRule)
        }
        self.readEndpoint(&values)
        if let ratio = Self.ratio(values.text("telemetry.traces.sampling_ratio")) {
            self.sampler = Sampler(name: values.text("telemetry.traces.sampler"), ratio: ratio)
        } else {
            values.refuse("telemetry.traces.sampling_ratio", "has to be a number from 0 to 1")
        }
    }

    /// The rule of lists, for problems.
    static let listRule =
        "has to be a list as in name=value,name=value, with commas in values as %2C"

    /// A share from 0 to 1; nil for any other text.
    static func ratio(_ text: String) -> Double? {
        Double(text).flatMap { (0...1).contains($0) ? $0 : nil }
    }

    private mutating func readEndpoint(_ values: inout ConfigurationValues) {
        let text = values.text("telemetry.traces.endpoint")
        self.endpoint = OTLPEndpoint(text)
        if let endpoint, !self.protocolName.takes(endpoint) {
            values.refuse(
                "telemetry.traces.endpoint",
                "has to be without a path for gRPC, or telemetry.traces.protocol http/protobuf")
        }
        if self.endpoint == nil, !text.isEmpty {
            values.refuse(
                "telemetry.traces.endpoint",
                "has to be http://HOST:PORT or https://HOST:PORT, over HTTP with a path")
        }
        if let list = NameValueList.readMetadata(values.text("telemetry.traces.headers")) {
            self.headers = list
        } else {
            values.refuse(
                "telemetry.traces.headers",
                Self.listRule + ", and names of letters, digits, -, _ and .")
        }
        if self.certificatePath.isEmpty != self.keyPath.isEmpty {
            values.refuse(
                self.keyPath.isEmpty
                    ? "telemetry.traces.key_file" : "telemetry.traces.certificate_file",
                "has to be set too: a certificate and its key belong together")
        }
    }
}
