internal import HTTPTypes

extension HTTPFields {
    /// The value of a name, as the subscript has it: of several fields their values joined. Nearly
    /// always there is one field or none, which the subscript joins too (swift-http-types 1.8.0):
    /// that was 3.9 % of the samples of a request with one event.
    func value(_ name: HTTPField.Name) -> String? {
        var found: String?
        for field in self where field.name == name {
            if found != nil { return self[name] }
            found = field.value
        }
        return found
    }

    /// The value of a header by its name in small letters, for names that HTTPTypes has not.
    subscript(named name: String) -> String? {
        get { HTTPField.Name(name).flatMap { self[$0] } }
        set {
            guard let name = HTTPField.Name(name) else { return }
            self[name] = newValue
        }
    }
}
