/** The application among the logins of the demo data, as it logs in. */
export const demoLogin = {
  emailaddress: "app@example.com",
  password: "correct horse battery staple",
} as const;
