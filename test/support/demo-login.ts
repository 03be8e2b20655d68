/** The login of the application in the demo data. */
export const demoLogin = {
  emailaddress: "app@example.com",
  password: "correct horse battery staple",
} as const;
