#pragma once
// `Request` and `Notification` are what a method is made of: struct Execute : Request<ExecuteParams, ExecuteResult>,
// with its name. The methods of the protocol are made from schemas/ into protocol/messages/*.hpp.

namespace cellgate::protocol {

template <class P, class R>
struct Request {
    using Params = P;
    using Result = R;
};
template <class P>
struct Notification {
    using Params = P;
};

} // namespace cellgate::protocol
